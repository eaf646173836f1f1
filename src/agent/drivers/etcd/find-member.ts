import { type EtcdMember, memberListSchema } from '../../../api/etcd-output.ts'
import type { Reason } from '../../../api/reason.ts'
import {
  clientOptions,
  type EtcdSettings,
  ownEndpoint,
  settingsOfArguments,
  settingsOfEnvironment,
  settingsOfFile,
} from '../../../core/kubernetes/etcd-settings.ts'
import type { Host } from '../../../ports/host.ts'
import { jsonAnswerOf } from '../host-answer.ts'
import { etcdctl } from './member-health.ts'

export const etcdUnit = 'etcd.service'

/** Whether etcd runs as a service of this host. One in a static pod is kubeadm's. */
export async function isHostService(host: Host, signal: AbortSignal): Promise<boolean> {
  if ((await host.files.look('/etc/kubernetes/manifests/etcd.yaml')).kind !== 'none') return false
  const { stdout } = await host.run({ argv: ['systemctl', 'show', '--property=LoadState', etcdUnit] }, signal)
  return /^LoadState=loaded$/m.test(stdout)
}

/** This host's member and its fellows, or why they cannot be asked. */
export async function findMember(host: Host, signal: AbortSignal): Promise<EtcdMember | Reason> {
  if ((await host.run({ argv: ['etcdctl', 'version'] }, signal)).exitCode !== 0) {
    return { code: 'ToolMissing', message: 'etcdctl is not on this host; etcd’s members are asked with it: install it' }
  }
  const settings = await readSettings(host, signal)
  const own = ownEndpoint(settings)
  if (own === undefined) {
    const message = `${etcdUnit} sets no advertise-client-urls, so its members cannot be asked whether they are healthy`
    return { code: 'EtcdUnhealthy', message }
  }
  const options = [...clientOptions(settings)]
  const argv = [...etcdctl, ...options, `--endpoints=${own}`, 'member', 'list']
  const { members } = await jsonAnswerOf(host, { argv }, memberListSchema, signal)
  const mute = members.find(({ clientURLs }) => !clientURLs?.length)
  if (mute)
    return { code: 'EtcdUnhealthy', message: `a member of etcd (${mute.name || 'without a name'}) has not started yet` }
  const others = members.flatMap(({ clientURLs = [] }) => (clientURLs.includes(own) ? [] : clientURLs.slice(0, 1)))
  return { own, others, options }
}

async function readSettings(host: Host, signal: AbortSignal): Promise<EtcdSettings> {
  const argv = ['systemctl', 'show', '--property=EnvironmentFiles,Environment,ExecStart', etcdUnit]
  const { stdout } = await host.run({ argv }, signal)
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
