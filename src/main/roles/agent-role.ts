import { FileDisk } from '../../adapters/disk/file-disk.ts'
import { LinuxHost } from '../../adapters/host/linux-host.ts'
import { pinoLog } from '../../adapters/log/pino-log.ts'
import { runAgent } from '../../agent/agent.ts'
import { allDrivers } from '../../agent/drivers/all-drivers.ts'
import type { AgentOptions } from '../../cli/dependencies.ts'
import { profileParts } from './profile-parts.ts'
import type { RoleDependencies } from './role-dependencies.ts'

/**
 * From a container into the machine's own namespaces. The pod shares the machine's network and processes already; entering
 * the latter would make nsenter fork, and the job would not be the process we hold.
 */
const enterHost = ['nsenter', '--target=1', '--mount', '--uts', '--ipc', '--']

export async function agentRole(
  { connector, clock, random, version }: RoleDependencies,
  options: AgentOptions,
  signal: AbortSignal,
): Promise<void> {
  const { kubeconfig, context, nodeName, stateDir, hostRoot } = options
  const log = pinoLog({ level: 'info', component: 'agent' })
  const api = await connector.connect({ kubeconfig, context, component: 'agent' })
  const inContainer = hostRoot !== '/'
  const host = new LinuxHost({ disk: new FileDisk(), log, root: hostRoot, ...(inContainer && { enter: enterHost }) })
  const profiles = profileParts(host, clock, stateDir)
  const drivers = [profiles.driver, ...allDrivers]
  const { sideTasks } = profiles
  await runAgent({ api, host, clock, random, log, nodeName, stateDir, version, drivers, sideTasks }, signal)
}
