// One accepted order, from staging to its end. Whatever happened before is read from its folder, so it does not matter whether
// this is the first try or the tenth after a crash.

import { isKubeError } from '../api/kube-error.ts'
import type { AgentOrder, Order } from '../api/node-state.ts'
import type { Reason } from '../api/reason.ts'
import { parseDuration } from '../core/duration.ts'
import { backOffMs } from '../kube/back-off.ts'
import { sleep } from '../kube/sleep.ts'
import type { Host } from '../ports/host.ts'
import { Deadline } from './deadline.ts'
import type { Driver, Step } from './drivers/driver.ts'
import type { EndState, OrderFolder } from './journal/order-folder.ts'
import { corrupt } from './journal/sealed-file.ts'
import { type Gatekeeper, type Permission, permissionByWatch, permissionToStart } from './permission.ts'
import { endReport, type FailedStep, hasBegun, progressReport } from './report.ts'
import { runStep, type StepOutcome } from './step-runner.ts'

export interface Workshop extends Gatekeeper {
  readonly host: Host
  readonly drivers: readonly Driver[]
  /** Tells the progress; with `withinMs` it may be told together with what comes next. */
  tell(report: AgentOrder, withinMs?: number): void
}

interface Task {
  readonly shop: Workshop
  readonly folder: OrderFolder
  readonly order: Order
  readonly steps: readonly Step[]
  readonly deadline: Deadline
  /** Set when nothing further of this order may start, whatever the API says. */
  readonly stop: Reason | undefined
}

/** What is done first; a kind that no driver knows is found by `kindsWithoutDriver`. */
const kindsInOrder = ['script', 'kubernetes'] as const
const stagingBackOff = { baseMs: 500, maxMs: 10_000 }
const soonMs = 5_000

export function kindsWithoutDriver(order: Order, drivers: readonly Driver[]): readonly string[] {
  return kindsInOrder.filter((kind) => order.work[kind] && !drivers.some((driver) => driver.kind === kind))
}

export function stepsOf(order: Order, drivers: readonly Driver[]): readonly Step[] {
  return driversInOrder(drivers).flatMap((driver) => driver.steps(order))
}

/** Goes on with the order until it has ended and its end is in the journal; returns the agent's last word. */
export async function carryOut(
  shop: Workshop,
  folder: OrderFolder,
  stop: Reason | undefined,
  signal: AbortSignal,
): Promise<AgentOrder> {
  const { order, acceptedAt, steps: names } = folder.accepted
  const steps = stepsOf(order, shop.drivers)
  if (steps.map((step) => step.name).join() !== names.join()) {
    throw corrupt(folder.path, `was begun with the steps ${names.join(', ')}, which this agent does not have`)
  }
  const deadline = new Deadline(shop.clock, acceptedAt, parseDuration(order.timeout))
  const task: Task = { shop, folder, order, steps, deadline, stop }
  // An earlier life may have died before it could tell. Not at once: what is found next may have to be told instead.
  if (hasBegun(folder)) shop.tell(progressReport(folder, steps), soonMs)
  const staged = await stage(task, signal)
  if (!staged.may) return close(task, staged.end, { reason: staged.reason })
  for (const [index, step] of steps.entries()) {
    if (folder.steps[index]?.done) continue
    const result = await takeStep(task, index, step, signal)
    if (result.outcome === 'failed') return close(task, 'Failed', { failed: result.failed })
    if (result.outcome === 'stopped') return close(task, result.permission.end, { reason: result.permission.reason })
    if (index < steps.length - 1) shop.tell(progressReport(folder, steps), soonMs)
  }
  return close(task, 'Succeeded', {})
}

/** With the API away it is tried until it is back, the order is withdrawn or its time is over. */
async function stage(task: Task, signal: AbortSignal): Promise<Permission> {
  const { shop, folder, order, steps } = task
  // Staging comes before the first step: once one has begun, all that is needed is on the disk.
  if (hasBegun(folder)) return { may: true }
  for (let failures = 1; ; failures++) {
    const permission = task.stop ? stopped(task.stop) : permissionByWatch(shop, order, task.deadline)
    if (!permission.may) return permission
    try {
      const reason = await stageOnce(task, signal)
      return reason ? { may: false, end: 'Failed', reason } : { may: true }
    } catch (error) {
      if (signal.aborted || !isKubeError(error)) throw error
      shop.log.warn('cannot fetch what the order needs yet', {
        order: order.id,
        code: error.code,
        error: error.message,
      })
      shop.tell(progressReport(folder, steps))
      const waitMs = error.retryAfterMs ?? backOffMs(stagingBackOff, failures, shop.random)
      await sleep(shop.clock, Math.min(waitMs, task.deadline.leftMs()), signal)
    }
  }
}

async function stageOnce({ shop, folder, order }: Task, signal: AbortSignal): Promise<Reason | undefined> {
  const staging = {
    api: shop.api,
    hasContent: (sha256: string) => folder.hasContent(sha256),
    keepContent: (content: string) => folder.keepContent(content),
  }
  for (const driver of driversInOrder(shop.drivers)) {
    const reason = await driver.stage?.(order, staging, signal)
    if (reason) return reason
  }
  return undefined
}

function takeStep(task: Task, index: number, step: Step, signal: AbortSignal): Promise<StepOutcome> {
  const { shop, folder, order, steps, deadline } = task
  return runStep(
    {
      host: shop.host,
      clock: shop.clock,
      random: shop.random,
      log: shop.log,
      nodeName: shop.nodeName,
      folder,
      index,
      step,
      context: { host: shop.host, order, contentPath: folder.contentPath },
      orderDeadline: deadline,
      mayStart: () =>
        task.stop
          ? Promise.resolve(stopped(task.stop))
          : permissionToStart(shop, order, step.disruptive, deadline, signal),
      onStarted: () => shop.tell(progressReport(folder, steps), step.brief && index > 0 ? soonMs : 0),
    },
    signal,
  )
}

function stopped(reason: Reason): Permission {
  return { may: false, end: 'Withdrawn', reason }
}

async function close(
  { shop, folder, order, steps }: Task,
  state: EndState,
  why: { readonly reason?: Reason; readonly failed?: FailedStep },
): Promise<AgentOrder> {
  const report = endReport(folder, steps, { state, finishedAt: shop.clock.now(), ...why })
  await folder.close(state, report)
  shop.log.info('order ended', { order: order.id, state, ...(report.reason && { reason: report.reason.code }) })
  return report
}

function driversInOrder(drivers: readonly Driver[]): readonly Driver[] {
  return kindsInOrder.flatMap((kind) => drivers.filter((driver) => driver.kind === kind))
}
