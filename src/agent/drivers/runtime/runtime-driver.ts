// The container runtime's packages, to the newest on offer. Its restart is a job of the host: where containers do not outlive
// it, the agent's own pod ends with it, and its next life finds the job again.

import type { Reason } from '../../../api/reason.ts'
import { SlipwayError } from '../../../api/slipway-error.ts'
import type { ContainerRuntime } from '../../../core/kubernetes/container-runtimes.ts'
import type { Host } from '../../../ports/host.ts'
import { packageManagerOf } from '../../packages/find-package-manager.ts'
import { sourcesOf } from '../../packages/package-sources.ts'
import { packageStep } from '../../packages/package-step.ts'
import { stageOnce, wishFor } from '../../packages/stage-once.ts'
import type { Driver, JobStep, Staging, StepContext } from '../driver.ts'
import { noPackageManager, packagePicture } from '../kubernetes-packages.ts'
import { asksFor, bringsPrograms } from '../kubernetes-target.ts'
import { lookUntil } from '../look-until.ts'
import { restartArgv } from '../restart-unit.ts'
import { undoPackageSteps } from '../undo-packages.ts'
import { findImageStore } from './image-store.ts'
import { findRuntime, runsReplaced, stateOf, versionsOf } from './runtime-look.ts'

const stagedNote = 'runtime-packages'

export const runtimeDriver: Driver = {
  name: 'runtime',
  concerns: (order) => asksFor('containerd', order),
  inspect: async ({ host }, signal) => {
    const runtime = await findRuntime(host, signal)
    if (!runtime) return { runtime: null }
    const packages = await packagePicture(host, [...runtime.packages, ...runtime.companions], signal)
    return { ...packages, runtime: runtime.name, running: (await versionsOf(host, runtime, signal)).running ?? null }
  },
  stage: async (staging, signal) => (bringsPrograms(staging.order) ? undefined : await stage(staging, signal)),
  steps: (order) =>
    bringsPrograms(order)
      ? []
      : [packageStep({ name: 'install-runtime', note: stagedNote, disruptive: true }), restartStep('restart-runtime')],
  undo: {
    possible: true,
    steps: (order) =>
      bringsPrograms(order) ? [] : [...undoPackageSteps('runtime', stagedNote), restartStep('restart-old-runtime')],
  },
}

async function stage(staging: Staging, signal: AbortSignal): Promise<Reason | undefined> {
  const { host, stagingFolder } = staging
  const runtime = await findRuntime(host, signal)
  if (!runtime)
    return { code: 'RuntimeUnknown', message: 'the kubelet’s container runtime is none that we know to upgrade' }
  const manager = await packageManagerOf(host, signal)
  if (!manager) return noPackageManager(runtime.name)
  const installed = await manager.installed([...runtime.packages, ...runtime.companions], signal)
  if (!runtime.packages.some((name) => installed.has(name))) {
    const names = runtime.packages.join(', ')
    return {
      code: 'PackageMissing',
      message: `${runtime.name} was not installed as a package: none of ${names} is there`,
    }
  }
  if (runtime.name === 'docker' && !(await keepsContainers(host, signal))) {
    await staging.warn('docker’s live-restore is off: its restart ends every container of this node, which is drained')
  }
  const wanted = [...installed.keys()].map((name) => ({ name }))
  const folder = `${stagingFolder}/runtime`
  const request = { folder, sources: sourcesOf(staging, manager), wanted }
  const result = await stageOnce(staging, manager, wishFor(stagedNote, manager, request, signal), signal)
  return result.ok ? undefined : result.reason
}

function restartStep(name: string): JobStep {
  return {
    name,
    disruptive: true,
    attempts: 3,
    showsEffect: true,
    timeoutMs: 10 * 60_000,
    argv: async ({ host }, signal) => restartArgv(await unitsThere(host, await known(host, signal), signal), 5, 120),
    holds: async (context, signal) => (await missingNow(context, signal)) === undefined,
    missing: (context, signal) =>
      lookUntil(context.host, () => missingNow(context, signal), { tries: 20, pauseSeconds: 3 }, signal),
  }
}

/** Up with what is on the disk, answering the kubelet's questions, and the kubelet still up. */
async function missingNow({ host }: StepContext, signal: AbortSignal): Promise<string | undefined> {
  const runtime = await known(host, signal)
  for (const unit of await unitsThere(host, runtime, signal)) {
    const state = await stateOf(host, unit, signal)
    if (state !== 'active') return `${unit} is ${state}`
    if (await runsReplaced(host, unit, signal)) return `${unit} still runs the program that was replaced`
  }
  const { installed, running } = await versionsOf(host, runtime, signal)
  if (installed === undefined) return `${runtime.program} does not say its version`
  if (running !== installed) return `${runtime.unit} runs “${running ?? 'nothing'}”, installed is “${installed}”`
  try {
    await (await findImageStore(host, signal))?.list(signal)
  } catch (error) {
    if (signal.aborted) throw error
    return `${runtime.name} does not answer: ${error instanceof Error ? error.message : String(error)}`
  }
  // A unit that was never enabled, as on a host that is not a node yet, is no fault of ours.
  const kubelet = await stateOf(host, 'kubelet.service', signal)
  return kubelet === 'failed' || kubelet === 'activating' ? `kubelet.service is ${kubelet}` : undefined
}

async function known(host: Host, signal: AbortSignal): Promise<ContainerRuntime> {
  const runtime = await findRuntime(host, signal)
  if (runtime) return runtime
  throw new SlipwayError('RuntimeUnknown', 'the kubelet’s container runtime is none that we know to upgrade')
}

async function unitsThere(host: Host, { units }: ContainerRuntime, signal: AbortSignal): Promise<readonly string[]> {
  const there: string[] = []
  for (const unit of units) {
    const { stdout } = await host.run({ argv: ['systemctl', 'show', '--property=LoadState', unit] }, signal)
    if (/^LoadState=loaded$/m.test(stdout)) there.push(unit)
  }
  return there
}

/** `live-restore`: containers outlive the daemon's restart. */
async function keepsContainers(host: Host, signal: AbortSignal): Promise<boolean> {
  const argv = ['docker', 'info', '--format={{.LiveRestoreEnabled}}']
  return (await host.run({ argv }, signal)).stdout.trim() === 'true'
}
