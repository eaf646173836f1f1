import { type ContainerRuntime, containerRuntimes, runtimeAt } from '../../../core/kubernetes/container-runtimes.ts'
import type { Host } from '../../../ports/host.ts'
import { runtimeEndpoint } from './image-store.ts'

/**
 * The host's container runtime; undefined for one we do not know. Where the kubelet names none, the one that runs: containerd
 * last, because docker has it run beside itself.
 */
export async function findRuntime(host: Host, signal: AbortSignal): Promise<ContainerRuntime | undefined> {
  const endpoint = await runtimeEndpoint(host)
  if (endpoint !== undefined) return runtimeAt(endpoint)
  for (const runtime of containerRuntimes.toReversed())
    if ((await stateOf(host, runtime.unit, signal)) === 'active') return runtime
  return undefined
}

export async function stateOf(host: Host, unit: string, signal: AbortSignal): Promise<string> {
  return (await host.run({ argv: ['systemctl', 'is-active', unit] }, signal)).stdout.trim()
}

/** What the program on the disk says about itself, and what its running process says; undefined where it does not answer. */
export async function versionsOf(
  host: Host,
  { program, unit }: Pick<ContainerRuntime, 'program' | 'unit'>,
  signal: AbortSignal,
): Promise<{ readonly installed: string | undefined; readonly running: string | undefined }> {
  const pid = await mainPid(host, unit, signal)
  return {
    installed: await saidBy(host, program, signal),
    running: pid > 0 ? await saidBy(host, `/proc/${pid}/exe`, signal) : undefined,
  }
}

/** Another package may bring the same version text: the process tells by its own file, which the package has taken away. */
export async function runsReplaced(host: Host, unit: string, signal: AbortSignal): Promise<boolean> {
  const pid = await mainPid(host, unit, signal)
  if (pid === 0) return false
  return (await host.run({ argv: ['readlink', `/proc/${pid}/exe`] }, signal)).stdout.trim().endsWith(' (deleted)')
}

async function mainPid(host: Host, unit: string, signal: AbortSignal): Promise<number> {
  const { stdout } = await host.run({ argv: ['systemctl', 'show', '--property=MainPID', unit] }, signal)
  return Number(/^MainPID=(\d+)$/m.exec(stdout)?.[1] ?? 0)
}

async function saidBy(host: Host, program: string, signal: AbortSignal): Promise<string | undefined> {
  const { exitCode, stdout } = await host.run({ argv: [program, '--version'] }, signal)
  return exitCode === 0 ? stdout.trim().slice(0, 512) : undefined
}
