// Which steps an order has. They are settled in its record before the first of them begins: an agent of another version goes on
// with those, in that order, and never puts one of its own in between.

import type { Order } from '../api/node-state.ts'
import { driversFor } from '../core/update/drivers-for.ts'
import type { Driver, Step } from './drivers/driver.ts'
import type { OrderFolder } from './journal/order-folder.ts'
import { corrupt } from './journal/sealed-file.ts'
import { hasBegun } from './report.ts'
import { undoStepsOf } from './undo-plan.ts'

export interface StepNames {
  readonly steps: readonly string[]
  readonly undo: readonly string[]
}

export function stepNamesOf(order: Order, drivers: readonly Driver[]): StepNames {
  const named = (steps: readonly Step[]) => steps.map((step) => step.name)
  return { steps: named(stepsOf(order, drivers)), undo: named(undoStepsOf(order, drivers)) }
}

/** Those that do the work, then those that take it back. Of an order that has not begun, as this agent would carry it out. */
export async function settleSteps(folder: OrderFolder, drivers: readonly Driver[]): Promise<readonly Step[]> {
  const { order } = folder.accepted
  const own = [...stepsOf(order, drivers), ...undoStepsOf(order, drivers)]
  const isAble = driversFor(order.work).every((name) => drivers.some((driver) => driver.name === name))
  const isSame = own.map(({ name }) => name).join() === folder.names.join()
  if (!isSame && isAble && !hasBegun(folder)) await folder.resettle(stepNamesOf(order, drivers))
  const byName = new Map(own.map((step) => [step.name, step]))
  const unknown = folder.names.filter((name) => !byName.has(name))
  if (unknown.length > 0) {
    throw corrupt(folder.path, `was begun with the steps ${unknown.join(', ')}, which this agent does not have`)
  }
  const twice = folder.names.find((name, index) => folder.names.indexOf(name) !== index)
  if (twice !== undefined) throw corrupt(folder.path, `names the step ${twice} more than once`)
  return folder.names.flatMap((name) => byName.get(name) ?? [])
}

function stepsOf(order: Order, drivers: readonly Driver[]): readonly Step[] {
  return drivers.filter((driver) => driver.concerns(order)).flatMap((driver) => driver.steps(order))
}
