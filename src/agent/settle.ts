// Before the last word on an order that did not come to its good end: nothing of it may change the host by itself any more.

import type { AgentOrder, Order } from '../api/node-state.ts'
import type { Reason } from '../api/reason.ts'
import { SlipwayError } from '../api/slipway-error.ts'
import { LinkedAbort } from '../kube/linked-abort.ts'
import type { Clock } from '../ports/clock.ts'
import type { Driver, Step, StepContext } from './drivers/driver.ts'
import { endLongWork } from './drivers/long-work.ts'
import type { OrderFolder } from './journal/order-folder.ts'
import { hasBegun, progressReport } from './report.ts'

interface Unsettled {
  readonly shop: {
    readonly clock: Clock
    readonly drivers: readonly Driver[]
    tell(report: AgentOrder, withinMs?: number): void
  }
  readonly folder: OrderFolder
  readonly order: Order
  readonly steps: readonly Step[]
  readonly context: Omit<StepContext, 'begunInBoot'>
}

const soonMs = 5_000
/** What is killed goes at once, unless it waits for a disk or a server that does not answer. */
const endMs = 60_000

export function mustSettle({ shop, order }: Pick<Unsettled, 'shop' | 'order'>): boolean {
  return shop.drivers.some((driver) => driver.settle !== undefined && driver.concerns(order))
}

/** Whether that may bring about what a step of the way back could not. */
export function settlesWayBack({ shop, order }: Pick<Unsettled, 'shop' | 'order'>): boolean {
  return shop.drivers.some((driver) => driver.settle !== undefined && driver.undo.possible && driver.concerns(order))
}

export async function settle(task: Unsettled, reason: Reason | undefined, signal: AbortSignal): Promise<void> {
  await endWork(task, signal)
  const { shop, folder, order, steps, context } = task
  if (!hasBegun(folder)) return
  for (const driver of shop.drivers) {
    if (!driver.settle || !driver.concerns(order) || hasGoneBack(driver, task)) continue
    shop.tell({ ...progressReport(folder, steps), ...(reason && { reason }) }, soonMs)
    await driver.settle({ ...context, begunInBoot: undefined }, signal)
  }
}

/** Its way back was seen to its end; one that was only begun may have left anything. */
function hasGoneBack({ undo }: Driver, { folder, order }: Unsettled): boolean {
  const steps = undo.possible ? undo.steps(order) : []
  const isDone = ({ name }: Step) => folder.steps[folder.names.indexOf(name)]?.done !== undefined
  return steps.length > 0 && steps.every(isDone)
}

/** What was fetched or staged beside the steps. */
export async function endWork(
  { shop, context }: Pick<Unsettled, 'shop' | 'context'>,
  signal: AbortSignal,
): Promise<void> {
  const limit = new LinkedAbort(signal)
  const late = new SlipwayError('StepFailed', 'what was fetched for the order was told to end, and goes on')
  const cancel = shop.clock.after(endMs, () => limit.abort(late))
  try {
    await endLongWork(context, limit.signal)
  } catch (error) {
    // Some throw the reason itself, and timers an error of their own that names it.
    if (limit.signal.reason !== late) throw error
    await context.warn(late.message)
  } finally {
    cancel()
    limit.abort('the work is over')
  }
}
