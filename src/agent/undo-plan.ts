// What can be taken back of an order, by what of it has run: backwards from the last step, up to the point of no return. A step
// that declares its effect impossible to undo ends it: what lies before that is left as it is, too.

import type { Order } from '../api/node-state.ts'
import type { Driver, Step } from './drivers/driver.ts'
import type { StepRecord } from './journal/order-folder.ts'

export interface UndoPlan {
  /** Names of the steps that take it back, in their order. */
  readonly steps: readonly string[]
  /** All that has run is taken back by them. */
  readonly isWhole: boolean
  /** Where it ends, and why; absent where nothing that was asked for is left. */
  readonly pointOfNoReturn?: { readonly step: string; readonly because: string }
}

/** All that could take the order back, the last first; as much of it as the order asks for. */
export function undoStepsOf(order: Order, drivers: readonly Driver[]): readonly Step[] {
  return drivers
    .filter((driver) => driver.concerns(order) && isAskedFor(order, driver))
    .toReversed()
    .flatMap(({ undo }) => (undo.possible ? undo.steps(order) : []))
}

/** `records` are those of the order's own steps, in their order. `failed`: the step at which it ended. */
export function planUndo(
  order: Order,
  drivers: readonly Driver[],
  records: readonly StepRecord[],
  failed?: number,
): UndoPlan {
  const ran = whatRan(order, drivers, records)
  const steps: string[] = []
  let isWhole = true
  for (const [place, { driver, last }] of ran.toReversed().entries()) {
    const { undo } = driver
    if (undo.possible) {
      if (isAskedFor(order, driver)) steps.push(...undo.steps(order).map(({ name }) => name))
      else isWhole = false
      continue
    }
    if (undo.endsUndo === 'Never') continue
    // It has failed at what only its author could undo: what came before is as it was meant to be.
    if (undo.endsUndo === 'WhenDone' && last.index === failed) {
      isWhole = false
      continue
    }
    const before = ran.slice(0, ran.length - 1 - place)
    const isMissed = before.some(({ driver: one }) => one.undo.possible && isAskedFor(order, one))
    const isLeft = order.rollback === 'All' && last.index !== failed
    const pointOfNoReturn = { step: last.name, because: undo.because }
    return { steps, isWhole: false, ...((isMissed || isLeft) && { pointOfNoReturn }) }
  }
  return { steps, isWhole }
}

function isAskedFor({ rollback = 'Image' }: Order, { undoneWith }: Driver): boolean {
  return rollback === 'All' || (rollback === 'Image' && undoneWith === 'Image')
}

interface Ran {
  readonly driver: Driver
  readonly last: { readonly name: string; readonly index: number }
}

/** Drivers of which a step was started, each with the last one. A step that found its effect there has changed nothing. */
function whatRan(order: Order, drivers: readonly Driver[], records: readonly StepRecord[]): readonly Ran[] {
  let index = 0
  const ran: Ran[] = []
  for (const driver of drivers) {
    if (!driver.concerns(order)) continue
    let last: Ran['last'] | undefined
    for (const { name } of driver.steps(order)) {
      const record = records[index]
      if (record?.begun || (record?.done && record.done.starts > 0)) last = { name, index }
      index++
    }
    if (last) ran.push({ driver, last })
  }
  return ran
}
