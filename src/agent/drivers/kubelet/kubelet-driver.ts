// The kubelet: the flags its next version no longer knows go first, then the package, then the restart. The package restarts
// nothing: the old process runs on until then. Whether the node is healthy afterwards is the operator's to judge.

import { fileBeforeSchema } from '../../../api/kubernetes-notes.ts'
import type { Order } from '../../../api/node-state.ts'
import type { Reason } from '../../../api/reason.ts'
import { removedFlagsIn, withoutRemovedFlags } from '../../../core/kubernetes/kubelet-arguments.ts'
import { isMasked, kubeletDropIns, kubeletFilesOfPeople } from '../../../core/kubernetes/kubelet-files.ts'
import { sameVersion } from '../../../core/version.ts'
import type { Host } from '../../../ports/host.ts'
import type { ActStep, Driver, Staging, Step, StepContext } from '../driver.ts'
import { installSteps, packagePicture, stageComponent, undoInstallSteps } from '../kubernetes-packages.ts'
import { asksFor, bringsPrograms, targetVersion } from '../kubernetes-target.ts'
import { restartArgv } from '../restart-unit.ts'
import { installedKubelet, runningKubelet } from './kubelet-look.ts'
import { settleControlPlane } from './settle-control-plane.ts'

const flagsFile = '/var/lib/kubelet/kubeadm-flags.env'
const flagsNote = 'kubelet-flags-before'

export const kubeletDriver: Driver = {
  name: 'kubelet',
  concerns: (order) => asksFor('kubelet', order),
  inspect: async ({ host }, signal) => ({
    ...(await packagePicture(host, ['kubelet'], signal)),
    flags: (await host.files.read(flagsFile)) ?? null,
    installed: (await installedKubelet(host, signal)) ?? null,
    running: (await runningKubelet(host, signal)).version ?? null,
  }),
  stage,
  steps: stepsOf,
  undo: { possible: true, steps: undoStepsOf },
}

/** An image brings its kubelet, and booting it restarts it. */
function stepsOf(order: Order): readonly Step[] {
  const packaged = bringsPrograms(order) ? [] : [...installSteps('kubelet', order), restartKubelet]
  return [dropRemovedFlags, ...packaged, ...(order.role === 'ControlPlane' ? [settleControlPlane] : [])]
}

function undoStepsOf(order: Order): readonly Step[] {
  if (bringsPrograms(order)) return [restoreFlags]
  return [...undoInstallSteps('kubelet', order), restoreFlags, restartOldKubelet]
}

async function stage(staging: Staging, signal: AbortSignal): Promise<Reason | undefined> {
  const { host, order } = staging
  return (
    (await flagsOfPeople(host, order)) ??
    (bringsPrograms(order) ? undefined : await stageComponent('kubelet', staging, signal))
  )
}

async function flagsOfPeople(host: Host, order: Order): Promise<Reason | undefined> {
  const target = targetVersion(order)
  const units = (await host.files.names(kubeletDropIns)).filter((name) => name.endsWith('.conf'))
  for (const path of [...kubeletFilesOfPeople, ...units.map((name) => `${kubeletDropIns}/${name}`)]) {
    if (isMasked(await host.files.look(path))) continue
    const found = removedFlagsIn((await host.files.read(path)) ?? '', target)
    if (found.length === 0) continue
    const flags = found.join(', ')
    const message = `${path} gives the kubelet ${flags}, which ${target.text} no longer knows: it would not start; take it out`
    return { code: 'KubeletFlagRemoved', message }
  }
  return undefined
}

const dropRemovedFlags: ActStep = {
  name: 'drop-removed-flags',
  disruptive: false,
  attempts: 3,
  brief: true,
  holds: async ({ host, order }) =>
    withoutRemovedFlags((await host.files.read(flagsFile)) ?? '', targetVersion(order)).removed.length === 0,
  act: async ({ host, order, notes, log }) => {
    const before = await host.files.read(flagsFile)
    const found = await host.files.look(flagsFile)
    if (before === undefined || found.kind !== 'file') return
    const { text, removed } = withoutRemovedFlags(before, targetVersion(order))
    if (removed.length === 0) return
    await notes.write(flagsNote, { content: before })
    await host.files.write(flagsFile, text, found)
    log.info('kubelet flags removed', { order: order.id, flags: removed.join(' ') })
  },
}

const restoreFlags: ActStep = {
  name: 'restore-kubelet-flags',
  disruptive: false,
  attempts: 3,
  brief: true,
  act: async ({ host, notes }) => {
    const before = await notes.read(flagsNote, fileBeforeSchema)
    const found = await host.files.look(flagsFile)
    if (before && found.kind === 'file') await host.files.write(flagsFile, before.content, found)
  },
}

/** A reboot since the package came has restarted it already. */
const restartKubelet: Step = {
  name: 'restart-kubelet',
  disruptive: true,
  attempts: 3,
  showsEffect: true,
  timeoutMs: 5 * 60_000,
  restartsKubelet: true,
  argv: () => Promise.resolve(restartArgv(['kubelet.service'], 10, 120)),
  holds: async (context, signal) => (await missingInKubelet(context, signal)) === undefined,
  missing: missingInKubelet,
}

/** Whichever kubelet is on the disk again is the one that runs. */
const restartOldKubelet: Step = {
  ...restartKubelet,
  name: 'restart-old-kubelet',
  holds: async (context, signal) => (await missingInOldKubelet(context, signal)) === undefined,
  missing: missingInOldKubelet,
}

async function missingInOldKubelet({ host }: StepContext, signal: AbortSignal): Promise<string | undefined> {
  const { state, version } = await runningKubelet(host, signal)
  if (state !== 'active') return `kubelet.service is ${state}`
  const installed = await installedKubelet(host, signal)
  return version === installed ? undefined : `the running kubelet is ${version ?? 'unknown'}, not ${installed ?? 'any'}`
}

async function missingInKubelet({ host, order }: StepContext, signal: AbortSignal): Promise<string | undefined> {
  const wanted = targetVersion(order).text
  const { state, version } = await runningKubelet(host, signal)
  if (state !== 'active') return `kubelet.service is ${state}`
  return sameVersion(version ?? '', wanted)
    ? undefined
    : `the running kubelet is ${version ?? 'unknown'}, not ${wanted}`
}
