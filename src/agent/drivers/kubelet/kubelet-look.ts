import { parseVersion } from '../../../core/version.ts'
import type { Host } from '../../../ports/host.ts'

/** The version of the kubelet on the disk; undefined where there is none, or a broken one. */
export async function installedKubelet(host: Host, signal: AbortSignal): Promise<string | undefined> {
  return kubeletVersionOf(host, 'kubelet', signal)
}

export interface RunningKubelet {
  readonly state: string
  /** Of the process itself: the file it was started from may be another one by now. */
  readonly version: string | undefined
}

export async function runningKubelet(host: Host, signal: AbortSignal): Promise<RunningKubelet> {
  const argv = ['systemctl', 'show', '--property=ActiveState,MainPID', 'kubelet.service']
  const { stdout } = await host.run({ argv }, signal)
  const state = /^ActiveState=(.*)$/m.exec(stdout)?.[1] ?? 'unknown'
  const pid = Number(/^MainPID=(\d+)$/m.exec(stdout)?.[1] ?? 0)
  return { state, version: pid > 0 ? await kubeletVersionOf(host, `/proc/${pid}/exe`, signal) : undefined }
}

/** `Kubernetes v1.36.3` */
export async function kubeletVersionOf(host: Host, program: string, signal: AbortSignal): Promise<string | undefined> {
  const { exitCode, stdout } = await host.run({ argv: [program, '--version'] }, signal)
  const said = /^Kubernetes (v\S+)/m.exec(stdout)?.[1]
  return exitCode === 0 && said !== undefined ? parseVersion(said)?.text : undefined
}
