// How much of its time an order has used, over all lives of the agent: restarts extend no time-out. As long as the machine runs its own
// count says it, because the wall clock may be set while no agent is there to see that. Across a boot there is only the wall clock, from
// the last mark on; should it have gone back, what was used up to then is still on record.

import { type OrderTimeMark, orderTimeMarkSchema, type StepStart } from '../api/journal.ts'
import { parseDuration } from '../core/duration.ts'
import type { Clock } from '../ports/clock.ts'
import type { Host } from '../ports/host.ts'
import { Deadline } from './deadline.ts'
import type { Notes } from './drivers/driver.ts'
import type { OrderFolder } from './journal/order-folder.ts'

export interface OrderTimeParts {
  readonly host: Host
  readonly clock: Clock
  readonly folder: OrderFolder
  readonly notes: Notes
}

/** One point of time as this machine counts, and by the wall clock. */
type Moment = Pick<OrderTimeMark, 'bootId' | 'uptimeMs' | 'at'>

const note = 'time'

export class OrderTime {
  readonly #parts: OrderTimeParts
  #work: { readonly usedMs: number; readonly sinceMs: number; readonly deadline: Deadline } | undefined

  constructor(parts: OrderTimeParts) {
    this.#parts = parts
  }

  /** The work has the order's time from when it was let run. Staging holds no slot: each life of the agent has it anew. */
  async deadline(): Promise<Deadline> {
    const { clock, folder } = this.#parts
    const timeoutMs = parseDuration(folder.accepted.order.timeout)
    if (!folder.released) return new Deadline(clock, timeoutMs)
    if (!this.#work) {
      const usedMs = await this.#used(folder.released.at)
      this.#work = { usedMs, sinceMs: clock.monotonicMs(), deadline: new Deadline(clock, timeoutMs - usedMs) }
    }
    return this.#work.deadline
  }

  /** Told before a step is started: it may be the one that boots the machine. */
  async begins({ step, starts }: Pick<StepStart, 'step' | 'starts'>): Promise<void> {
    const { usedMs, sinceMs } = this.#work ?? { usedMs: 0, sinceMs: this.#parts.clock.monotonicMs() }
    await this.#keep(await this.#now(), usedMs + this.#parts.clock.monotonicMs() - sinceMs, { step, starts })
  }

  /** How long a program that runs has done so: it began in this boot. */
  async ranMs({ step, starts, startedAt }: StepStart): Promise<number> {
    const mark = await this.#mark()
    const isOfStart = mark?.begun?.step === step && mark.begun.starts === starts
    const passedMs = isOfStart ? passedSince(mark, await this.#now()) : undefined
    return passedMs ?? this.#byWall(startedAt)
  }

  async #used(releasedAt: string): Promise<number> {
    const mark = await this.#mark()
    const now = await this.#now()
    const passedMs = mark && passedSince(mark, now)
    if (mark && passedMs !== undefined) return mark.usedMs + passedMs
    const usedMs = (mark?.usedMs ?? 0) + this.#byWall(mark?.at ?? releasedAt)
    await this.#keep(now, usedMs)
    return usedMs
  }

  #byWall(since: string): number {
    return Math.max(0, this.#parts.clock.now().getTime() - Date.parse(since))
  }

  async #now(): Promise<Moment> {
    const { host, clock } = this.#parts
    const at = clock.now().toISOString()
    return { bootId: await host.bootId(), uptimeMs: Math.round(await host.uptimeMs()), at }
  }

  #mark(): Promise<OrderTimeMark | undefined> {
    return this.#parts.notes.read(note, orderTimeMarkSchema)
  }

  async #keep(now: Moment, usedMs: number, begun?: OrderTimeMark['begun']): Promise<void> {
    await this.#parts.notes.write(note, { ...now, usedMs: Math.round(usedMs), ...(begun && { begun }) })
  }
}

/** Undefined across a boot; also one that left the boot id as it was, as that of a container which is a machine. */
function passedSince(mark: Moment, now: Moment): number | undefined {
  return mark.bootId === now.bootId && mark.uptimeMs <= now.uptimeMs ? now.uptimeMs - mark.uptimeMs : undefined
}
