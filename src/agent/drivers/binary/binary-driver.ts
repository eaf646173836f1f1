// Programs that come as one file: k3s, RKE2, k0s and the like. Fetched and checked while the node works, put in place by one
// rename, its units restarted; the file of before is kept until the order has ended.

import { binaryBeforeSchema, binarySwappedSchema, binaryVersionSchema } from '../../../api/binary-notes.ts'
import type { Order } from '../../../api/node-state.ts'
import type { Reason } from '../../../api/reason.ts'
import { SlipwayError } from '../../../api/slipway-error.ts'
import type { BinaryWork } from '../../../api/work.ts'
import type { Download } from '../../../ports/download.ts'
import type { Host } from '../../../ports/host.ts'
import type { ActStep, Driver, JobStep, Staging, Step, StepContext } from '../driver.ts'
import { whyNotWritable } from '../files/writable.ts'
import { answerOf } from '../host-answer.ts'
import { restartArgv } from '../restart-unit.ts'
import { lookAtUnit, uptimeSeconds, wallSeconds } from './binary-units.ts'
import { swapProgram } from './swap-program.ts'

const versionNote = 'binary-version'
const beforeNote = 'binary-before'
const swappedNote = 'binary-swapped'
const maxBytes = 2 * 1024 ** 3
/** Left free beside the new file. */
const spareBytes = 64 * 1024 ** 2

const stagedFile = ({ stagingFolder }: StepContext) => `${stagingFolder}/binary/new`
const keptFile = ({ stagingFolder }: StepContext) => `${stagingFolder}/binary/before`

export function binaryDriver(download: Download): Driver {
  return {
    name: 'binary',
    concerns: ({ work }) => work.binary !== undefined,
    inspect: async ({ host, order }, signal) => {
      const { path, restart = [] } = workOf(order)
      const units = await Promise.all(restart.map(async (unit) => [unit, (await lookAtUnit(host, unit, signal)).state]))
      return { sha256: (await host.files.sha256(path)) ?? null, units: Object.fromEntries(units) }
    },
    stage: (staging, signal) => stage(download, staging, signal),
    steps: (order) => [swap, ...restartSteps(order, restart)],
    undo: { possible: true, steps: (order) => [restore, ...restartSteps(order, restartOld)] },
  }
}

function restartSteps({ work }: Order, step: JobStep): readonly Step[] {
  return work.binary?.restart?.length ? [step] : []
}

function workOf({ id, work }: Order): BinaryWork {
  if (!work.binary) throw new SlipwayError('Internal', `order ${id} has no binary`)
  return work.binary
}

async function stage(download: Download, staging: Staging, signal: AbortSignal): Promise<Reason | undefined> {
  const { host, order, notes } = staging
  const { path, sha256 } = workOf(order)
  const unwritable = await whyNotWritable(host, path, signal)
  if (unwritable !== undefined) return { code: 'PathTaken', message: unwritable }
  const reason = await obtain(download, staging, signal)
  if (reason) return reason
  const file = await host.files.look(stagedFile(staging))
  const folder = await existingParent(host, path)
  const freeBytes = await host.files.freeBytes(folder)
  const neededBytes = (file.kind === 'file' ? file.bytes : 0) + spareBytes
  if (freeBytes < neededBytes) {
    return {
      code: 'DiskTooFull',
      message: `${folder} has ${freeBytes} bytes free, ${neededBytes} are needed for ${path}`,
    }
  }
  const said = await versionOf(staging, stagedFile(staging), signal)
  if (said === undefined) {
    const message = `the program with SHA-256 ${sha256} does not run on this host: it does not print its version`
    return { code: 'BinaryBroken', message }
  }
  await notes.write(versionNote, { says: said })
  if (!(await notes.read(beforeNote, binaryBeforeSchema))) {
    await notes.write(beforeNote, { sha256: (await host.files.sha256(path)) ?? null })
  }
  return undefined
}

async function obtain(download: Download, staging: Staging, signal: AbortSignal): Promise<Reason | undefined> {
  const { host, order, stagingFolder } = staging
  const { url, sha256, name } = workOf(order)
  const to = stagedFile(staging)
  if (!order.work.bundle) return await download.fetch({ url, sha256, to, mode: 0o755, maxBytes }, signal)
  const folder = `${stagingFolder}/bundle/binaries`
  const bundled = `${folder}/${name}`
  if (!(await host.files.names(folder)).includes(name) || (await host.files.sha256(bundled)) !== sha256) {
    return { code: 'BundleIncomplete', message: `the bundle does not hold binaries/${name} with SHA-256 ${sha256}` }
  }
  await answerOf(host, { argv: ['/bin/sh', '-c', swapProgram, 'swap', bundled, to, ''], timeoutMs: 5 * 60_000 }, signal)
  return undefined
}

const swap: ActStep = {
  name: 'swap-binary',
  disruptive: false,
  attempts: 3,
  holds: async (context, signal) => (await missingInFile(context, signal)) === undefined,
  missing: missingInFile,
  act: async (context, signal) => {
    const { host, order, notes } = context
    const argv = ['/bin/sh', '-c', swapProgram, 'swap', stagedFile(context), workOf(order).path, keptFile(context)]
    await answerOf(host, { argv, timeoutMs: 10 * 60_000 }, signal)
    await notes.write(swappedNote, { bootId: await host.bootId(), uptimeSeconds: await uptimeSeconds(host, signal) })
  },
}

const restart: JobStep = {
  name: 'restart-binary-units',
  disruptive: true,
  attempts: 3,
  showsEffect: true,
  timeoutMs: 10 * 60_000,
  // The kubelet is a part of these programs.
  restartsKubelet: true,
  argv: ({ order }) => Promise.resolve(restartArgv(workOf(order).restart ?? [], 10, 300)),
  holds: async (context, signal) => (await missingInUnits(context, signal)) === undefined,
  missing: missingInUnits,
}

const restore: ActStep = {
  name: 'restore-binary',
  disruptive: false,
  attempts: 3,
  holds: async ({ host, order, notes }) => {
    const before = await notes.read(beforeNote, binaryBeforeSchema)
    return before !== undefined && ((await host.files.sha256(workOf(order).path)) ?? null) === before.sha256
  },
  act: async (context, signal) => {
    const { host, order, notes } = context
    const { path } = workOf(order)
    const before = await notes.read(beforeNote, binaryBeforeSchema)
    if (before?.sha256 === null) await host.files.remove(path)
    else await answerOf(host, { argv: ['/bin/sh', '-c', swapProgram, 'swap', keptFile(context), path, ''] }, signal)
    await notes.write(swappedNote, { bootId: await host.bootId(), uptimeSeconds: await uptimeSeconds(host, signal) })
  },
}

const restartOld: JobStep = { ...restart, name: 'restart-old-binary-units' }

async function missingInFile(context: StepContext, signal: AbortSignal): Promise<string | undefined> {
  const { path, sha256 } = workOf(context.order)
  const found = await context.host.files.sha256(path)
  if (found !== sha256) return `${path} has SHA-256 ${found ?? '(no file)'}, not ${sha256}`
  const expected = (await context.notes.read(versionNote, binaryVersionSchema))?.says
  const said = await versionOf(context, path, signal)
  return said === expected ? undefined : `${path} says it is ${said ?? 'nothing'}, not ${expected ?? 'known'}`
}

/** Up, and started after the file was changed: such programs run from where they unpacked themselves, so their file tells nothing. */
async function missingInUnits(context: StepContext, signal: AbortSignal): Promise<string | undefined> {
  const { host, order } = context
  const changed = await changedSeconds(context, signal)
  for (const unit of workOf(order).restart ?? []) {
    const { state, startedSeconds = 0 } = await lookAtUnit(host, unit, signal)
    if (state !== 'active') return `${unit} is ${state}`
    if (startedSeconds < changed) return `${unit} still runs what was there before`
  }
  return undefined
}

/** When the file was changed, since boot. What this order did is known by a clock that cannot jump, all else by the file. */
async function changedSeconds({ host, order, notes }: StepContext, signal: AbortSignal): Promise<number> {
  const swapped = await notes.read(swappedNote, binarySwappedSchema)
  if (swapped) return swapped.bootId === (await host.bootId()) ? swapped.uptimeSeconds : 0
  const file = await host.files.look(workOf(order).path)
  // The uptime first: what passes between the two looks must not make the file younger than it is.
  const uptime = await uptimeSeconds(host, signal)
  const ageSeconds = file.kind === 'file' ? (await wallSeconds(host, signal)) - file.modifiedMs / 1000 : 0
  return uptime - ageSeconds
}

/** What the program prints about its version; undefined where it cannot be run. */
async function versionOf(
  { host, order }: StepContext,
  program: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { versionArguments = ['--version'] } = workOf(order)
  const { exitCode, stdout, stderr } = await host.run(
    { argv: [program, ...versionArguments], timeoutMs: 120_000 },
    signal,
  )
  return exitCode === 0 ? `${stdout}\n${stderr}`.trim().slice(0, 1024) : undefined
}

async function existingParent(host: Host, path: string): Promise<string> {
  for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
    const folder = path.slice(0, at)
    if ((await host.files.look(folder)).kind !== 'none') return folder
  }
  return '/'
}
