// One accepted order, from staging to its end. Whatever happened before is read from its folder, so it does not matter whether
// this is the first try or the tenth after a crash.

import type { Failure } from '../api/journal.ts'
import { isKubeError } from '../api/kube-error.ts'
import type { AgentOrder, Order } from '../api/node-state.ts'
import type { Reason } from '../api/reason.ts'
import { SlipwayError } from '../api/slipway-error.ts'
import { backOffMs } from '../kube/back-off.ts'
import { sleep } from '../kube/sleep.ts'
import type { Host } from '../ports/host.ts'
import type { StepObstacle } from './control-plane/step-obstacle.ts'
import type { Deadline } from './deadline.ts'
import type { Driver, Step, StepContext } from './drivers/driver.ts'
import { folderContent, folderNotes } from './journal/notes.ts'
import type { EndState, OrderFolder } from './journal/order-folder.ts'
import { settleSteps } from './order-steps.ts'
import { OrderTime } from './order-time.ts'
import {
  askedBack,
  type Gatekeeper,
  isReleased,
  isTold,
  type Permission,
  permissionByWatch,
  permissionToStart,
} from './permission.ts'
import { hasRun, reopenLost } from './reopen-lost.ts'
import { endReport, type FailedStep, hasBegun, progressReport } from './report.ts'
import { endWork, mustSettle, settle, settlesWayBack } from './settle.ts'
import { knowing } from './step-run.ts'
import { runStep, type StepOutcome } from './step-runner.ts'
import { stuckCode } from './stuck-disk.ts'
import { planUndo, type UndoPlan } from './undo-plan.ts'
import { noReturn, takenBack, undoFailed } from './undo-reason.ts'
import { NoLongerWanted, whileWanted } from './while-wanted.ts'

export interface Workshop extends Gatekeeper {
  readonly host: Host
  /** Where the agent keeps its journal. */
  readonly stateDir: string
  /** In the order in which they work. */
  readonly drivers: readonly Driver[]
  /** Looked at right before a step starts; it is waited for, within the order's time. */
  readonly obstacle?: StepObstacle
  /** Tells the progress; with `withinMs` it may be told together with what comes next. */
  tell(report: AgentOrder, withinMs?: number): void
}

interface Task {
  readonly shop: Workshop
  readonly folder: OrderFolder
  readonly order: Order
  /** Those that do the work, then those that take it back. */
  readonly steps: readonly Step[]
  readonly context: Omit<StepContext, 'begunInBoot'>
  /** Set when nothing further of this order may start, whatever the API says. */
  readonly stop: Reason | undefined
  readonly time: OrderTime
}

const stagingBackOff = { baseMs: 500, maxMs: 10_000 }
const obstacleBackOff = { baseMs: 2_000, maxMs: 15_000 }
const soonMs = 5_000
/** Who fetches for longer says by then that it has the order: the operator takes who does not for one that is gone. */
const acceptedMs = 1_000

/**
 * Goes on with the order until it has ended and its end is in the journal; returns the agent's last word. An order that is
 * only to be staged returns `Staged` without an end: it is called again when it may run.
 */
export async function carryOut(
  shop: Workshop,
  folder: OrderFolder,
  stop: Reason | undefined,
  signal: AbortSignal,
): Promise<AgentOrder> {
  const task = await taskOf(shop, folder, stop)
  const { steps } = task
  // An earlier life may have died before it could tell. Not at once: what is found next may have to be told instead.
  if (hasBegun(folder)) shop.tell(progressReport(folder, steps), soonMs)
  const lost = await reopenLost({ folder, steps, context: task.context, clock: shop.clock }, signal)
  if (folder.failure) return await undo(task, failedBefore(folder.failure), signal)
  if (lost) return await undo(task, lost, signal)
  const unbegun = hasBegun(folder) ? undefined : askedBack(shop, folder.accepted.order)
  if (unbegun) return await closeUnfinished(task, 'Withdrawn', { reason: unbegun }, signal)
  await noteRelease(task)
  if (!folder.released && !stop && !isTold(shop, folder.accepted.order)) {
    shop.tell(progressReport(folder, steps), acceptedMs)
  }
  const staged = await stage(task, signal)
  if (!staged.may) return await closeUnfinished(task, staged.end, { reason: staged.reason }, signal)
  await noteRelease(task)
  if (!folder.released && !stop) return progressReport(folder, steps, 'Staged')
  const work = steps.slice(0, folder.accepted.steps.length)
  for (const [index, step] of work.entries()) {
    if (folder.steps[index]?.done) continue
    const mayTake = !whyBackNow(task) || (await isRunning(task, index))
    const result = mayTake ? await takeStep(task, index, step, signal) : undefined
    // It may have been asked back while the step waited, to start or to be tried again.
    const back = result?.outcome === 'done' ? undefined : whyBackNow(task)
    if (result?.outcome === 'failed' && !(back && hasTriesLeft(task, index, step)))
      return await undo(task, result.failed, signal)
    if (back) return await undo(task, { index, finishedAt: shop.clock.now(), reason: back }, signal)
    if (result?.outcome === 'stopped') {
      const { end, reason } = result.permission
      return await closeUnfinished(task, end, { reason }, signal)
    }
    if (index < work.length - 1) shop.tell(progressReport(folder, steps), soonMs)
  }
  return close(task, 'Succeeded', {})
}

function failedBefore({ index, finishedAt, reason, logTail }: Failure): FailedStep {
  return { index, finishedAt: new Date(finishedAt), reason, ...(logTail !== undefined && { logTail }) }
}

async function taskOf(shop: Workshop, folder: OrderFolder, stop: Reason | undefined): Promise<Task> {
  const { order } = folder.accepted
  const steps = await settleSteps(folder, shop.drivers)
  const { disk } = shop.host
  const context = {
    host: shop.host,
    order,
    nodeName: shop.nodeName,
    log: shop.log,
    notes: folderNotes(disk, folder.noteFolder),
    content: folderContent(disk, folder.contentFolder),
    stagingFolder: folder.stagingFolder,
    warn: (message: string) => folder.warn(message),
  }
  const time = new OrderTime({ host: shop.host, clock: shop.clock, folder, notes: context.notes })
  return { shop, folder, order, steps, context, stop, time }
}

async function noteRelease({ shop, folder, order }: Task): Promise<void> {
  if (isReleased(shop, order)) await folder.release(shop.clock.now())
}

/** With the API or a repository away it is tried until it is back, the order is withdrawn or its time is over. */
async function stage(task: Task, signal: AbortSignal): Promise<Permission> {
  const { shop, folder, order, steps } = task
  // Staging comes before the first step: once one has begun, all that is needed is on the disk.
  if (hasBegun(folder)) return { may: true }
  const deadline = await task.time.deadline()
  const permission = () => mayStage(task, deadline)
  for (let failures = 1; ; failures++) {
    const now = permission()
    if (!now.may) return now
    try {
      const reason = await whileWanted(shop, permission, (wanted) => stageOnce(task, wanted), signal)
      return reason ? { may: false, end: 'Failed', reason } : { may: true }
    } catch (error) {
      if (error instanceof NoLongerWanted) return error.refusal
      if (signal.aborted || !mayPass(error, shop.stateDir)) throw error
      const { code, message } = error
      shop.log.warn('cannot fetch what the order needs yet', { order: order.id, code, error: message })
      const reason: Reason = { code: 'StagingFailed', message: `trying again: ${message}`.slice(0, 4000) }
      shop.tell({ ...progressReport(folder, steps), reason })
      const asked = isKubeError(error) ? error.retryAfterMs : undefined
      const waitMs = asked ?? backOffMs(stagingBackOff, failures, shop.random)
      await sleep(shop.clock, Math.min(waitMs, deadline.leftMs()), signal)
    }
  }
}

function mayStage({ shop, order, stop }: Task, deadline: Deadline): Permission {
  const back = stop ?? askedBack(shop, order)
  return back ? stopped(back) : permissionByWatch(shop, order, deadline)
}

/** What a driver throws with one of these codes is tried again; anything else is a defect, or a journal that needs a person. */
function mayPass(error: unknown, stateDir: string): error is SlipwayError {
  if (isKubeError(error)) return true
  // A file of the host that cannot be read now may be put right by a person, and says nothing of our journal.
  return (
    error instanceof SlipwayError && (error.code === 'StagingFailed' || stuckCode(error, stateDir) === 'StepFailed')
  )
}

async function stageOnce({ shop, order, context }: Task, signal: AbortSignal): Promise<Reason | undefined> {
  const staging = { ...context, begunInBoot: undefined, api: shop.api }
  for (const driver of shop.drivers) {
    if (!driver.concerns(order)) continue
    const reason = await driver.stage?.(staging, signal)
    if (reason) return reason
  }
  return undefined
}

async function takeStep(task: Task, index: number, step: Step, signal: AbortSignal): Promise<StepOutcome> {
  const { shop, folder, steps, context, time } = task
  const deadline = await time.deadline()
  return await runStep(
    {
      host: shop.host,
      clock: shop.clock,
      random: shop.random,
      log: shop.log,
      nodeName: shop.nodeName,
      folder,
      index,
      step,
      context,
      orderDeadline: deadline,
      time,
      mayStart: () => mayStart(task, step, deadline, signal),
      onStarted: () => shop.tell(progressReport(folder, steps), step.brief && index > 0 ? soonMs : 0),
      onWaiting: (reason) => {
        if (reason) shop.log.warn('a step waits', { order: task.order.id, step: step.name, ...reason })
        shop.tell({ ...progressReport(folder, steps), ...(reason && { reason }) })
      },
    },
    signal,
  )
}

/** Asked for again after each wait: meanwhile the order may have been withdrawn, or its time is over. */
async function mayStart(task: Task, step: Step, deadline: Deadline, signal: AbortSignal): Promise<Permission> {
  const { shop, folder, order, steps, context } = task
  // What takes it back is what was asked for: it waits as any other step.
  const isWork = folder.accepted.steps.includes(step.name)
  for (let waits = 1; ; waits++) {
    const back = isWork ? whyBackNow(task) : undefined
    if (back) return stopped(back)
    const permission = task.stop ? stopped(task.stop) : await permissionToStart(shop, order, step, deadline, signal)
    if (!permission.may) return permission
    const reason = await shop.obstacle?.look(step, order, context, signal)
    if (!reason) return permission
    shop.log.warn('a step waits', { order: order.id, step: step.name, code: reason.code, message: reason.message })
    shop.tell({ ...progressReport(folder, steps), reason })
    await sleep(shop.clock, Math.min(deadline.leftMs(), backOffMs(obstacleBackOff, waits, shop.random)), signal)
  }
}

/** Asked for, and nothing has run that would have to stay: past the point of no return an order is finished. */
function whyBackNow(task: Task): Reason | undefined {
  const reason = askedBack(task.shop, task.order)
  return reason && undoOf(task).isWhole ? reason : undefined
}

/** One that would be tried again has not failed. */
function hasTriesLeft({ folder }: Task, index: number, { attempts }: Step): boolean {
  return (folder.steps[index]?.begun?.failures ?? 0) + 1 < attempts
}

/** Left by an earlier life: it comes to its end first, or it would bring about again what is taken back. */
async function isRunning({ shop, folder }: Task, index: number): Promise<boolean> {
  const { begun } = folder.steps[index] ?? {}
  if (!begun) return false
  const { state } = await shop.host.look(begun.process, folder.pathsOf(index, begun.starts).result)
  return state === 'running' || state === 'unwritten'
}

function undoOf({ shop, folder, order }: Task, failed?: number): UndoPlan {
  return planUndo(order, shop.drivers, folder, failed)
}

/** Takes back what was done, as far as the order asks for that and it can be. */
async function undo(task: Task, failed: FailedStep, signal: AbortSignal): Promise<AgentOrder> {
  const { shop, folder, steps } = task
  const first = folder.accepted.steps.length
  const isCancelled = failed.reason.code === 'OrderWithdrawn'
  const plan = undoOf(task, failed.index)
  const { pointOfNoReturn } = plan
  // What was asked back did not fail.
  const broken = isCancelled ? [] : [failed]
  const reason = pointOfNoReturn ? noReturn(failed.reason, pointOfNoReturn) : failed.reason
  if (steps.length === first && !isCancelled && !mustSettle(task)) {
    return await closeUnfinished(task, 'Failed', { failed: broken, reason }, signal)
  }
  if (!folder.failure) await folder.fail({ ...failed, finishedAt: failed.finishedAt.toISOString() })
  // What goes on meanwhile would bring about again what is taken back.
  if (!steps.some((_, at) => at >= first && hasRun(folder, at))) await endWork(task, signal)
  const isToRun = (index: number) => plan.steps.includes(folder.names[index] ?? '') && !folder.steps[index]?.done
  for (const [offset, step] of steps.slice(first).entries()) {
    const index = first + offset
    if (!isToRun(index)) continue
    const result = await takeStep(task, index, step, signal)
    if (result.outcome === 'done') continue
    const second =
      result.outcome === 'failed'
        ? result.failed
        : { index, finishedAt: shop.clock.now(), reason: unstarted(step, result.permission.reason) }
    if (await isSettled(task, index, step, second.reason, signal)) continue
    const left = folder.names.filter((_, at) => at >= index && isToRun(at))
    const both = { failed: [...broken, second], reason: undoFailed(reason, second, left, shop.nodeName) }
    return await closeUnfinished(task, 'Failed', both, signal)
  }
  const rolledBack = plan.steps.length > 0 && !pointOfNoReturn
  if (isCancelled) return await closeUnfinished(task, 'Withdrawn', { reason: failed.reason, rolledBack }, signal)
  const ran = folder.names.filter((_, at) => at >= first && hasRun(folder, at))
  const told = rolledBack ? takenBack(reason, plan, ran) : reason
  return await closeUnfinished(task, 'Failed', { failed: broken, reason: told, rolledBack }, signal)
}

/** The last look at the host may take back what the step could not, or had no time for: then the step is done. */
async function isSettled(task: Task, index: number, step: Step, reason: Reason, signal: AbortSignal): Promise<boolean> {
  if (!settlesWayBack(task)) return false
  await settle(task, reason, signal)
  const { shop, folder, context } = task
  const { begun } = folder.steps[index] ?? {}
  if (!(await step.holds?.(knowing(context, begun), signal))) return false
  const started = begun && { startedAt: begun.startedAt }
  const finishedAt = shop.clock.now().toISOString()
  await folder.finish(index, { step: step.name, starts: begun?.starts ?? 0, ...started, finishedAt })
  return true
}

function unstarted({ name }: Step, { code, message }: Reason): Reason {
  return { code, message: `step ${name} was not run: ${message}`.slice(0, 4096) }
}

/** The order stays open, and this is done again, until nothing of it is left that would change the host later. */
async function closeUnfinished(
  task: Task,
  state: Exclude<EndState, 'Succeeded'>,
  why: Ending,
  signal: AbortSignal,
): Promise<AgentOrder> {
  await settle(task, why.reason, signal)
  return close(task, state, why)
}

function stopped(reason: Reason): Permission {
  return { may: false, end: 'Withdrawn', reason }
}

interface Ending {
  readonly reason?: Reason
  readonly failed?: readonly FailedStep[]
  readonly rolledBack?: boolean
}

async function close({ shop, folder, order, steps }: Task, state: EndState, why: Ending): Promise<AgentOrder> {
  const report = endReport(folder, steps, { state, finishedAt: shop.clock.now(), ...why })
  await folder.close(state, report)
  shop.log.info('order ended', { order: order.id, state, ...(report.reason && { reason: report.reason.code }) })
  return report
}
