// Rule 4: a step runs at most once to its end. Its process is held until its identity is journalled, so a restarted agent finds
// it again; it is run anew only when the machine booted in between, or when it provably left neither process nor result.

import type { StepStart } from '../api/journal.ts'
import { isReasonCode, type Reason } from '../api/reason.ts'
import { SlipwayError } from '../api/slipway-error.ts'
import { formatDuration } from '../core/duration.ts'
import { backOffMs } from '../kube/back-off.ts'
import { sleep } from '../kube/sleep.ts'
import type { Clock } from '../ports/clock.ts'
import type { HeldProcess, Host, JobState } from '../ports/host.ts'
import type { Log } from '../ports/log.ts'
import type { Random } from '../ports/random.ts'
import type { Deadline } from './deadline.ts'
import type { ActStep, Step, StepContext } from './drivers/driver.ts'
import { jobName } from './job-name.ts'
import type { OrderFolder } from './journal/order-folder.ts'
import { lookingAtLog } from './log-waits.ts'
import type { OrderTime } from './order-time.ts'
import type { Permission, Refusal } from './permission.ts'
import type { FailedStep } from './report.ts'
import { stuckCode } from './stuck-disk.ts'

export interface StepRun {
  readonly host: Host
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly nodeName: string
  readonly folder: OrderFolder
  readonly index: number
  readonly step: Step
  readonly context: Omit<StepContext, 'begunInBoot'>
  readonly orderDeadline: Deadline
  readonly time: Pick<OrderTime, 'begins' | 'ranMs'>
  mayStart(step: Step): Promise<Permission>
  /** Called when a start is in the journal, just before it runs. */
  onStarted(): void
  /** Called when what runs says that it waits; with undefined when it goes on. */
  onWaiting(reason: Reason | undefined): void
}

export type StepOutcome =
  | { readonly outcome: 'done' }
  | { readonly outcome: 'failed'; readonly failed: FailedStep }
  | { readonly outcome: 'stopped'; readonly permission: Refusal }

const graceMs = 10_000
const logBytes = 8 * 1024 * 1024
const tailBytes = 4096
/** A start that vanished in the same boot is taken for one the agent's death kept from running; more often is no accident. */
const cutOffsAllowed = 5
const retryBackOff = { baseMs: 1_000, maxMs: 30_000 }

type Ending =
  | JobState
  | { readonly state: 'timedOut'; readonly afterMs: number }
  | { readonly state: 'notStarted'; readonly error: unknown }
  /** The agent did it itself and could not. */
  | { readonly state: 'threw'; readonly error: unknown }

type Tally = Pick<StepStart, 'starts' | 'failures' | 'cutOff'>

interface Attempt {
  readonly begun: StepStart
  readonly ending: Ending
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
  if (!failed) return await finish(run, begun)
  if (ending.state === 'gone' && adopted) {
    // The machine was booted, or the agent died before it could let the process run. It has failed at nothing yet.
    const rebooted = begun.process.bootId !== (await run.host.bootId())
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

function knowing(context: StepRun['context'], begun: StepStart | undefined): StepContext {
  return { ...context, begunInBoot: begun?.process.bootId }
}

async function attempt(run: StepRun, tally: Tally, signal: AbortSignal): Promise<Attempt> {
  const { step } = run
  if ('act' in step) return await actOnce(run, step, tally, signal)
  const { begun, error } = await start(run, tally, signal)
  const ending: Ending = error === undefined ? await awaitEnd(run, begun, signal) : { state: 'notStarted', error }
  return { begun, ending, adopted: false }
}

/** Journalled like a start of a program, so that a crash in the middle is seen. */
async function actOnce(run: StepRun, step: ActStep, tally: Tally, signal: AbortSignal): Promise<Attempt> {
  const { host, folder, index, context, clock } = run
  const process = { pid: 0, startTime: '', bootId: await host.bootId() }
  const begun: StepStart = { step: step.name, ...tally, startedAt: clock.now().toISOString(), process }
  await folder.begin(index, begun)
  run.onStarted()
  run.log.info('step started', { order: context.order.id, step: step.name, start: tally.starts })
  try {
    await step.act(knowing(context, begun), signal)
    return { begun, ending: { state: 'exited', exitCode: 0 }, adopted: false }
  } catch (error) {
    if (signal.aborted) throw error
    return { begun, ending: { state: 'threw', error }, adopted: false }
  }
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
    if (signal.aborted) throw error
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

async function awaitEnd(run: StepRun, begun: StepStart, signal: AbortSignal): Promise<Ending> {
  const { host, folder, index, step } = run
  // What the agent did itself ended with the agent.
  if ('act' in step) return { state: 'gone' }
  const { result, log } = folder.pathsOf(index, begun.starts)
  const state = await host.look(begun.process, result)
  if (state.state !== 'running') return state
  const orderLeftMs = run.orderDeadline.leftMs()
  const stepLeftMs = step.timeoutMs === undefined ? orderLeftMs : step.timeoutMs - (await run.time.ranMs(begun))
  const work = () => endsWithin(run, begun, Math.max(0, Math.min(orderLeftMs, stepLeftMs)), signal)
  const { waitsFor } = step
  const waits = waitsFor && { clock: run.clock, disk: host.disk, logPath: log, waitsFor, tell: run.onWaiting }
  const hasEnded = await (waits ? lookingAtLog(waits, work, signal) : work())
  if (hasEnded) return host.look(begun.process, result)
  run.log.warn('step takes too long and is ended', { order: run.context.order.id, step: step.name })
  await host.end(begun.process, graceMs, signal)
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

/** Undefined when the step ended well and its effect is there. */
async function judge(
  run: StepRun,
  begun: StepStart,
  ending: Ending,
  signal: AbortSignal,
): Promise<FailedStep | undefined> {
  const logTail = await readTail(run, begun.starts)
  const name = run.step.name
  const failed = (code: Reason['code'], message: string): FailedStep => ({
    index: run.index,
    finishedAt: run.clock.now(),
    reason: { code, message: withLastLines(message, logTail) },
    ...(logTail !== undefined && { logTail }),
  })
  switch (ending.state) {
    case 'exited': {
      const { exitCode } = ending
      if (exitCode !== 0) return failed(exitReason(run.step, exitCode), `step ${name} ended with exit code ${exitCode}`)
      const missing = await whatIsMissing(run, begun, signal)
      return missing === undefined ? undefined : failed('StepFailed', `step ${name} ended well, but ${missing}`)
    }
    case 'timedOut':
      return failed('StepTimedOut', `step ${name} was ended after ${formatDuration(ending.afterMs)}: it took too long`)
    case 'threw':
      return failed(codeOf(ending.error), `step ${name} failed: ${messageOf(ending.error)}`)
    case 'notStarted':
      return failed('StepFailed', `step ${name} could not be started: ${messageOf(ending.error)}`)
    case 'gone':
    case 'running':
      return failed('StepFailed', `step ${name} was killed: it left no exit code`)
  }
}

async function whatIsMissing(run: StepRun, begun: StepStart, signal: AbortSignal): Promise<string | undefined> {
  try {
    return await run.step.missing?.(knowing(run.context, begun), signal)
  } catch (error) {
    if (signal.aborted) throw error
    return `its effect could not be looked at: ${messageOf(error)}`
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

async function readTail(run: StepRun, start: number): Promise<string | undefined> {
  const { log } = run.folder.pathsOf(run.index, start)
  const tail = await run.host.disk.readTail(log, tailBytes)
  // The cut may have gone through a character.
  const text = tail?.replace(/^\uFFFD+/, '').slice(-tailBytes)
  return text === undefined || text.trim() === '' ? undefined : text
}

function withLastLines(message: string, logTail: string | undefined): string {
  if (logTail === undefined) return message
  const lines = logTail.trimEnd().split('\n').slice(-10).join('\n').slice(-2000)
  return `${message}; its last lines: ${lines}`
}

function exitReason(step: Step, exitCode: number): Reason['code'] {
  return ('act' in step ? undefined : step.exitReasons?.[exitCode]) ?? 'StepFailed'
}

function codeOf(error: unknown): Reason['code'] {
  return error instanceof SlipwayError && isReasonCode(error.code) ? error.code : 'StepFailed'
}

function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, 500)
}
