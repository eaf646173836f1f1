// Work that takes minutes and is no step: what is fetched while the node still works. Like a step's program it runs in a transient
// unit, held until its identity is on the disk: an agent that comes back waits for it instead of starting it again.

import { longWorkSchema, longWorksSchema } from '../../api/journal.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import { formatDuration } from '../../core/duration.ts'
import type { JobState } from '../../ports/host.ts'
import { jobName } from '../job-name.ts'
import { sha256 } from '../journal/sealed-file.ts'
import type { StepContext } from './driver.ts'

export interface LongWork {
  /** Of its unit, with what tells the same work of another order or with other words apart. */
  readonly name: string
  readonly argv: readonly string[]
  readonly timeoutMs: number
}

export interface LongWorkEnd {
  /** 127 where the program is not there. */
  readonly exitCode: number
  /** The last of what it printed and complained of. */
  readonly output: string
}

const listNote = 'long-work'
const logBytes = 8 * 1024 * 1024
const outputBytes = 64 * 1024
const killAfterSeconds = 10
/** Longer than `timeout` waits before it kills. */
const graceMs = 15_000
/** Of `timeout`: it was told to end; it had to be killed, or somebody else did that. */
const [tookTooLong, wasKilled] = [124, 137]

/** Throws CommandTimedOut. What was cut off, by a boot or by hand, is started again. */
export async function longWork(context: StepContext, work: LongWork, signal: AbortSignal): Promise<LongWorkEnd> {
  const { host, notes } = context
  const name = `${work.name}-${sha256(JSON.stringify(work.argv)).slice(0, 8)}`
  const known = await notes.read(name, longWorkSchema)
  // What ended before a boot may have been lost with it.
  if (known?.process && known.process.bootId === (await host.bootId())) {
    await host.ended(known.process, signal)
    const state = await host.look(known.process, pathsOf(context, name, known.starts).result)
    if (state.state === 'exited') return await conclude(context, name, work, known.starts, state.exitCode)
  }
  const starts = (known?.starts ?? 0) + 1
  const state = await start(context, name, work, starts, signal)
  if (state.state === 'exited') return await conclude(context, name, work, starts, state.exitCode)
  throw new SlipwayError('StagingFailed', `${work.name} was killed: it left no exit code`)
}

/** It outlives the agent, but not its order: whichever life began it, nothing of it is left running. */
export async function endLongWork(
  { host, notes }: Pick<StepContext, 'host' | 'notes'>,
  signal: AbortSignal,
): Promise<void> {
  const { names } = (await notes.read(listNote, longWorksSchema)) ?? { names: [] }
  for (const name of names) {
    const known = await notes.read(name, longWorkSchema)
    // The host ends nothing of another boot.
    if (known?.process) await host.end(known.process, graceMs, signal)
  }
}

async function start(
  context: StepContext,
  name: string,
  { argv, timeoutMs }: LongWork,
  starts: number,
  signal: AbortSignal,
): Promise<JobState> {
  const { host, order, nodeName, notes } = context
  const { folder, log, result } = pathsOf(context, name, starts)
  await host.disk.makeFolder(folder)
  await list(context, name)
  const limit = ['timeout', '-k', String(killAfterSeconds), String(Math.ceil(timeoutMs / 1000))]
  const job = {
    name: jobName(order.id, name, starts),
    argv: [...limit, ...argv],
    env: { SLIPWAY_NODE: nodeName, SLIPWAY_ORDER: order.id, SLIPWAY_STEP: name },
    logPath: log,
    logBytes,
    resultPath: result,
  }
  const held = await host.hold(job, signal)
  try {
    await notes.write(name, { starts, process: held.identity })
    await held.release()
  } catch (error) {
    await host.end(held.identity, 0, signal)
    throw error
  }
  await host.ended(held.identity, signal)
  return await host.look(held.identity, result)
}

async function list({ notes }: StepContext, name: string): Promise<void> {
  const { names } = (await notes.read(listNote, longWorksSchema)) ?? { names: [] }
  if (!names.includes(name)) await notes.write(listNote, { names: [...names, name] })
}

/** Told once: asked for again it is done again, for what it brought may be gone. */
async function conclude(
  context: StepContext,
  name: string,
  work: LongWork,
  starts: number,
  exitCode: number,
): Promise<LongWorkEnd> {
  const { host, notes } = context
  await notes.write(name, { starts })
  if (exitCode === tookTooLong || exitCode === wasKilled) {
    const late = `${work.argv.join(' ').slice(0, 200)} did not end within ${formatDuration(work.timeoutMs)}`
    throw new SlipwayError('CommandTimedOut', exitCode === wasKilled ? `${late}, or was killed (out of memory?)` : late)
  }
  const output = await host.disk.readTail(pathsOf(context, name, starts).log, outputBytes)
  return { exitCode, output: output ?? '' }
}

function pathsOf({ stagingFolder }: StepContext, name: string, start: number) {
  const folder = `${stagingFolder}/work`
  const stem = `${folder}/${name}.${start}`
  return { folder, log: `${stem}.log`, result: `${stem}.exit` }
}
