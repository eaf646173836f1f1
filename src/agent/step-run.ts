// What the parts of running a step share: the step with all around it, one start of it, and how that ended.

import type { StepStart } from '../api/journal.ts'
import type { Reason } from '../api/reason.ts'
import type { Clock } from '../ports/clock.ts'
import type { Host, JobState } from '../ports/host.ts'
import type { Log } from '../ports/log.ts'
import type { Random } from '../ports/random.ts'
import type { Deadline } from './deadline.ts'
import type { Step, StepContext } from './drivers/driver.ts'
import type { OrderFolder } from './journal/order-folder.ts'
import type { OrderTime } from './order-time.ts'
import type { Permission } from './permission.ts'

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

export type Ending =
  | JobState
  | { readonly state: 'timedOut'; readonly afterMs: number }
  | { readonly state: 'notStarted'; readonly error: unknown }
  /** The agent did it itself and could not. */
  | { readonly state: 'threw'; readonly error: unknown }

export type Tally = Pick<StepStart, 'starts' | 'failures' | 'cutOff'>

export interface Start {
  readonly begun: StepStart
  readonly ending: Ending
}

export function knowing(context: StepRun['context'], begun: StepStart | undefined): StepContext {
  return { ...context, begunInBoot: begun?.process.bootId }
}
