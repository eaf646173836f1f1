import { SlipwayError } from '../../../api/slipway-error.ts'
import {
  type EtcdSettings,
  settingsOfArguments,
  settingsOfEnvironment,
  settingsOfFile,
} from '../../../core/kubernetes/etcd-settings.ts'
import type { Host } from '../../../ports/host.ts'

export const etcdUnit = 'etcd.service'
/** Where it is not, the host was not booted by systemd and has no services of it. */
const bootedBySystemd = '/run/systemd/system'

/** Whether etcd runs as a service of this host. One in a static pod is kubeadm's. */
export async function isHostService(host: Host, signal: AbortSignal): Promise<boolean> {
  if ((await host.files.look('/etc/kubernetes/manifests/etcd.yaml')).kind !== 'none') return false
  return /^LoadState=loaded$/m.test(await showUnit(host, 'LoadState', signal))
}

/** Throws CannotReach while systemd does not answer, as when it executes itself anew: no answer is none. */
async function showUnit(host: Host, properties: string, signal: AbortSignal): Promise<string> {
  const command = { argv: ['systemctl', 'show', `--property=${properties}`, etcdUnit] }
  const { exitCode, stdout, stderr } = await host.run(command, signal)
  if (exitCode !== 0 && (await host.files.look(bootedBySystemd)).kind !== 'none') {
    const said = (stderr || stdout).trim().slice(-400)
    throw new SlipwayError('CannotReach', `systemctl does not tell about ${etcdUnit}: ${said}`)
  }
  return stdout
}

export async function readEtcdSettings(host: Host, signal: AbortSignal): Promise<EtcdSettings> {
  const stdout = await showUnit(host, 'EnvironmentFiles,Environment,ExecStart', signal)
  const line = (name: string) => new RegExp(`^${name}=(.*)$`, 'gm')
  const files = [...stdout.matchAll(line('EnvironmentFiles'))].map(([, value = '']) => value.split(' ')[0] ?? '')
  const texts = await Promise.all(files.map((path) => host.files.read(path)))
  const inline = [...stdout.matchAll(line('Environment'))].flatMap(([, value = '']) => value.split(' '))
  const command = /argv\[\]=(.*?) ;/.exec(stdout)?.[1]?.split(' ') ?? []
  const environment = settingsOfEnvironment([...inline, ...texts.map((text) => text ?? '')].join('\n'))
  const settings = { ...environment, ...settingsOfArguments(command) }
  const file = settings['config-file']
  return file === undefined ? settings : { ...settings, ...settingsOfFile((await host.files.read(file)) ?? '') }
}

/** `etcd Version: 3.6.8` */
export async function installedVersion(host: Host, signal: AbortSignal): Promise<string | undefined> {
  const { stdout } = await host.run({ argv: ['etcd', '--version'] }, signal)
  return /^etcd Version: (\S+)$/m.exec(stdout)?.[1]
}
