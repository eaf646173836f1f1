// Rule 4: a step runs at most once to its end. Its process is held until its identity is journalled, so a restarted agent finds
// it again; it is run anew only when the machine booted in between, when it was never let run, or when its effect can be looked at.

import type { StepStart } from '../api/journal.ts'
import { SlipwayError } from '../api/slipway-error.ts'
import { backOffMs } from '../kube/back-off.ts'
import { LinkedAbort } from '../kube/linked-abort.ts'
import { sleep } from '../kube/sleep.ts'
import type { HeldProcess } from '../ports/host.ts'
import { actOnce } from './act-once.ts'
import type { Step } from './drivers/driver.ts'
import { endWait, stuckWait } from './end-waits.ts'
import { jobName } from './job-name.ts'
import { logWait } from './log-waits.ts'
import type { Permission, Refusal } from './permission.ts'
import type { FailedStep } from './report.ts'
import { type Ending, knowing, type Start, type StepRun, type Tally } from './step-run.ts'
import { codeOf, judge, messageOf, readTail } from './step-verdict.ts'
import { stuckCode } from './stuck-disk.ts'
import { tellingWaits } from './telling-waits.ts'

export type StepOutcome =
  | { readonly outcome: 'done' }
  | { readonly outcome: 'failed'; readonly failed: FailedStep }
  | { readonly outcome: 'stopped'; readonly permission: Refusal }

const graceMs = 10_000
const logBytes = 8 * 1024 * 1024
/** Starts that the agent's death kept from running, or cut off where the effect can be looked at; more often is no accident. */
const cutOffsAllowed = 5
const retryBackOff = { baseMs: 1_000, maxMs: 30_000 }

interface Attempt extends Start {
  /** Started by an earlier life of this agent. */
  readonly adopted: boolean
}

export async function runStep(run: StepRun, signal: AbortSignal): Promise<StepOutcome> {
  const { step } = run
  const begun = run.folder.steps[run.index]?.begun
  let last: Attempt | undefined = begun && { begun, ending: await awaitEnd(run, begun, signal), adopted: true }
  let tally: Tally = begun ?? { starts: 0, failures: 0, cutOff: 0 }
  for (;;) {
    let failed: FailedStep | undefined
    if (last) {
      const conclusion = await conclude(run, last, signal)
      if ('outcome' in conclusion) return conclusion
      tally = conclusion.tally
      failed = conclusion.failed
    }
    const look = await lookFirst(run, last?.begun, signal)
    if (typeof look === 'object') return { outcome: 'failed', failed: failed ?? look }
    if (look) return await finish(run, last?.begun)
    const permission: Permission = last && step.waits ? { may: true } : await run.mayStart(step)
    if (!permission.may) return failed ? { outcome: 'failed', failed } : { outcome: 'stopped', permission }
    last = await attempt(run, { ...tally, starts: tally.starts + 1 }, signal)
  }
}

/** The end of the step, or how the next start is to be counted; `failed` is what to report should there be none. */
async function conclude(
  run: StepRun,
  { begun, ending, adopted }: Attempt,
  signal: AbortSignal,
): Promise<StepOutcome | { readonly tally: Tally; readonly failed: FailedStep | undefined }> {
  const failed = await judge(run, begun, ending, signal)
  if (!failed) {
    await run.step.afterwards?.(knowing(run.context, begun), signal)
    return await finish(run, begun)
  }
  const rebooted = begun.process.bootId !== (await run.host.bootId())
  if (isCutOff(run.step, ending, adopted, rebooted)) {
    const cutOff = begun.cutOff + (rebooted ? 0 : 1)
    if (cutOff <= cutOffsAllowed || run.step.waits) return { tally: { ...begun, cutOff }, failed: undefined }
    return { outcome: 'failed', failed }
  }
  const failures = begun.failures + 1
  if (failures >= run.step.attempts) return { outcome: 'failed', failed }
  run.log.warn('step failed and is tried again', { order: run.context.order.id, step: run.step.name, failures })
  const waitMs = backOffMs(retryBackOff, failures, run.random)
  await sleep(run.clock, Math.min(run.orderDeadline.leftMs(), waitMs), signal)
  return { tally: { ...begun, failures }, failed }
}

/**
 * It has failed at nothing yet. A program that was let run and vanished in the same boot may have done all it was for: where that
 * cannot be looked at it has failed.
 */
function isCutOff(step: Step, ending: Ending, adopted: boolean, rebooted: boolean): boolean {
  if (ending.state === 'unrun') return true
  if (ending.state !== 'gone' || !adopted) return false
  return rebooted || 'act' in step || step.showsEffect
}

/** Whether it holds already. A host that cannot be looked at is looked at again, as long as the order has time. */
async function lookFirst(
  run: StepRun,
  begun: StepStart | undefined,
  signal: AbortSignal,
): Promise<boolean | FailedStep> {
  try {
    return await alreadyHolds(run, begun, signal)
  } catch (error) {
    const { step, index, clock, orderDeadline } = run
    // A disk is a person's business, however long it takes.
    const isOfDisk = stuckCode(error, '') !== undefined
    if (signal.aborted || isOfDisk || step.waits || !orderDeadline.isOver) throw error
    const message = `step ${step.name} cannot be looked at: ${messageOf(error)}`
    return { index, finishedAt: clock.now(), reason: { code: codeOf(error), message } }
  }
}

function alreadyHolds({ step, context }: StepRun, begun: StepStart | undefined, signal: AbortSignal): Promise<boolean> {
  return step.holds?.(knowing(context, begun), signal) ?? Promise.resolve(false)
}

async function attempt(run: StepRun, tally: Tally, signal: AbortSignal): Promise<Attempt> {
  const { step } = run
  if ('act' in step) return { ...(await actOnce(run, step, tally, signal)), adopted: false }
  const { begun, error } = await start(run, tally, signal)
  const ending: Ending = error === undefined ? await awaitEnd(run, begun, signal) : { state: 'notStarted', error }
  return { begun, ending, adopted: false }
}

async function start(
  run: StepRun,
  { starts, failures, cutOff }: Tally,
  signal: AbortSignal,
): Promise<{ readonly begun: StepStart; readonly error?: unknown }> {
  const { host, folder, index, step, context } = run
  if ('act' in step) throw new SlipwayError('Internal', `step ${step.name} is no program`)
  const paths = folder.pathsOf(index, starts)
  await folder.makeLogFolder()
  const job = {
    name: jobName(context.order.id, step.name, starts),
    argv: await step.argv(knowing(context, folder.steps[index]?.begun), signal),
    env: { ...step.env, SLIPWAY_NODE: run.nodeName, SLIPWAY_ORDER: context.order.id, SLIPWAY_STEP: step.name },
    logPath: paths.log,
    logBytes,
    resultPath: paths.result,
  }
  const begin = (process: StepStart['process']): StepStart => ({
    step: step.name,
    starts,
    failures,
    cutOff,
    startedAt: run.clock.now().toISOString(),
    process,
  })
  await run.time.begins({ step: step.name, starts })
  let held: HeldProcess
  try {
    held = await host.hold(job, signal)
  } catch (error) {
    // A disk that holds no result lets nothing run: it is tried again when that was put right.
    if (signal.aborted || isElsewhere(error) || stuckCode(error, '') !== undefined) throw error
    return { begun: begin({ pid: 0, startTime: '', bootId: await host.bootId() }), error }
  }
  const begun = begin(held.identity)
  try {
    await folder.begin(index, begun)
  } catch (error) {
    await host.end(held.identity, 0, signal)
    throw error
  }
  run.onStarted()
  run.log.info('step started', {
    order: context.order.id,
    step: step.name,
    start: starts,
    pid: begun.process.pid,
  })
  try {
    await held.release()
  } catch (error) {
    if (signal.aborted) throw error
    await host.end(held.identity, 0, signal)
    return { begun, error }
  }
  return { begun }
}

/** The step has failed at nothing: it is under way, and by then the journal may say more of it than was read. */
function isElsewhere(error: unknown): boolean {
  return error instanceof SlipwayError && error.code === 'StartedElsewhere'
}

async function awaitEnd(run: StepRun, begun: StepStart, signal: AbortSignal): Promise<Ending> {
  const { host, folder, index, step } = run
  // What the agent did itself ended with the agent.
  if ('act' in step) return { state: 'gone' }
  const { result, log: logPath } = folder.pathsOf(index, begun.starts)
  const state = await host.look(begun.process, result)
  if (state.state !== 'running' && state.state !== 'unwritten') return state
  const orderLeftMs = run.orderDeadline.leftMs()
  const stepLeftMs = step.timeoutMs === undefined ? orderLeftMs : step.timeoutMs - (await run.time.ranMs(begun))
  const log = run.log.with({ order: run.context.order.id, step: step.name })
  // How it went is known. What it left behind may hang in the kernel, and is not waited for.
  const exited = new LinkedAbort(signal)
  const work = async () => {
    try {
      if (await endsWithin(run, begun, Math.max(0, Math.min(orderLeftMs, stepLeftMs)), exited.signal)) return true
      const { state } = await host.look(begun.process, result)
      // It took no longer than it may. Ended now, it would lose how it went.
      if (state === 'unwritten') await host.ended(begun.process, exited.signal)
      return state === 'unwritten' || state === 'exited'
    } catch (error) {
      if (signal.aborted || !exited.signal.aborted) throw error
      log.warn('step has ended, but something it left behind has not')
      return true
    } finally {
      exited.abort('the wait is over')
    }
  }
  const { waitsFor } = step
  const { clock, onWaiting: tell } = run
  const looks = [
    endWait(run, begun, () => exited.abort('its result is there')),
    ...(waitsFor ? [logWait({ clock, disk: host.disk, logPath, waitsFor })] : []),
  ]
  const hasEnded = await tellingWaits({ clock, log, looks, tell }, work, signal)
  if (hasEnded) return host.look(begun.process, result)
  log.warn('step takes too long and is ended')
  const stuck = { clock, log, looks: [stuckWait(run, graceMs)], tell }
  await tellingWaits(stuck, () => host.end(begun.process, graceMs, signal), signal)
  return { state: 'timedOut', afterMs: await run.time.ranMs(begun) }
}

async function endsWithin(run: StepRun, begun: StepStart, ms: number, signal: AbortSignal): Promise<boolean> {
  const limit = new AbortController()
  const onAbort = () => limit.abort(signal.reason)
  let isOver = false
  const cancel = run.clock.after(ms, () => {
    isOver = true
    limit.abort('the time is over')
  })
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    signal.throwIfAborted()
    await run.host.ended(begun.process, limit.signal)
    return true
  } catch (error) {
    if (isOver && !signal.aborted) return false
    throw error
  } finally {
    cancel()
    signal.removeEventListener('abort', onAbort)
  }
}

/** `begun` is the start that ended well; undefined when nothing had to be run. */
async function finish(run: StepRun, begun: StepStart | undefined): Promise<StepOutcome> {
  const logTail = begun && (await readTail(run, begun.starts))
  await run.folder.finish(run.index, {
    step: run.step.name,
    starts: begun?.starts ?? 0,
    ...(begun && { startedAt: begun.startedAt }),
    finishedAt: run.clock.now().toISOString(),
    ...(logTail !== undefined && { logTail }),
  })
  run.log.info('step done', { order: run.context.order.id, step: run.step.name, starts: begun?.starts ?? 0 })
  return { outcome: 'done' }
}
