// What can be taken back of an order, by what of it has run: backwards from the last step, up to the point of no return. A step
// that declares its effect impossible to undo ends it: what lies before that is left as it is, too.

import type { AcceptedOrder } from '../api/journal.ts'
import type { Order } from '../api/node-state.ts'
import type { Driver, Step, Undo } from './drivers/driver.ts'
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

/** What an order was begun with, and what became of it; step by step, those that take it back last. */
export interface OrderRecord {
  readonly accepted: Pick<AcceptedOrder, 'steps' | 'undo'>
  readonly steps: readonly StepRecord[]
}

/** `failed`: the step at which it ended. */
export function planUndo(order: Order, drivers: readonly Driver[], record: OrderRecord, failed?: number): UndoPlan {
  const ran = whatRan(order, drivers, record)
  const steps: string[] = []
  let isWhole = true
  for (const [place, { driver, last }] of ran.toReversed().entries()) {
    const undo = undoOnRecord(order, driver, record)
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

/** Half a way back is none: an agent of another version may have begun the order, which knew no way, or another. */
function undoOnRecord(order: Order, driver: Driver, { accepted }: OrderRecord): Undo {
  const { undo } = driver
  const isOnRecord = ({ name }: Step) => accepted.undo?.includes(name) === true
  if (!undo.possible || !isAskedFor(order, driver) || undo.steps(order).every(isOnRecord)) return undo
  const because = 'the order was begun by an agent of another version, which had no such way back'
  return { possible: false, because, endsUndo: 'WhenBegun' }
}

/** Drivers of which a step was started, each with the last one. A step that found its effect there has changed nothing. */
function whatRan(order: Order, drivers: readonly Driver[], { accepted, steps }: OrderRecord): readonly Ran[] {
  const hasRun = ({ begun, done }: StepRecord = {}) => begun !== undefined || (done !== undefined && done.starts > 0)
  const started = accepted.steps.flatMap((name, index) => (hasRun(steps[index]) ? [{ name, index }] : []))
  const ran = drivers.flatMap((driver) => {
    const own = driver.concerns(order) ? driver.steps(order).map(({ name }) => name) : []
    const last = started.findLast(({ name }) => own.includes(name))
    return last ? [{ driver, last }] : []
  })
  return ran.toSorted((a, b) => a.last.index - b.last.index)
}
