import type { InstallSettings } from './manifest.ts'
import { agentNodeFlags, stateDir } from './workloads.ts'

/** Where the program and its Node lie on a host that runs the agent itself. */
const folder = '/opt/slipway'

/** A systemd unit for an agent on its host: the same program as in the pod, with the credentials of the host's kubelet. */
export function agentUnit(only?: InstallSettings['only']): string {
  const program = [`${folder}/node`, ...agentNodeFlags, `${folder}/slipway.mjs`]
  const where = ['--node-name=%H', '--kubeconfig=/etc/kubernetes/kubelet.conf', `--state-dir=${stateDir}`]
  const args = ['agent', ...where, ...(only === undefined ? [] : [`--only=${only}`])]
  return `# The folder ${folder} holds what the host bundle brings; its install.sh puts it there.
# %H is this host's name; write the node's name here where it has another.
[Unit]
Description=Slipway agent
Wants=network-online.target
After=network-online.target

[Service]
ExecStart=${[...program, ...args].join(' ')}
Restart=always
RestartSec=5

[Install]
WantedBy=multi-user.target
`
}
