// The windows and freezes of the policy and of each operation, as the ledger asks for them: may this start now, and when does
// that change. How long a node takes is measured from the slots that come back.

import type { MaintenancePolicySpec } from '../../api/maintenance-policy.ts'
import type { Reason } from '../../api/reason.ts'
import type { WindowSpec, WorkKind } from '../../api/window.ts'
import { Calendar, judgeTime } from '../../core/time/calendar.ts'
import { NodeTimes } from '../../core/time/node-times.ts'

export interface Hours {
  readonly holder: string
  readonly kinds: readonly WorkKind[]
  readonly windows: readonly WindowSpec[] | undefined
}

export class OpeningHours {
  readonly times = new NodeTimes()
  #policy = new Calendar({})
  #policyMark = ''
  readonly #own = new WeakMap<readonly WindowSpec[], Calendar>()
  #nextMs: number | undefined

  /** From now on by this policy, at this instant. */
  beginPass(policy: MaintenancePolicySpec): void {
    this.#nextMs = undefined
    this.follow(policy)
  }

  /** From now on by this policy. */
  follow({ windows, freezes }: MaintenancePolicySpec): void {
    const mark = JSON.stringify([windows, freezes])
    if (mark === this.#policyMark) return
    this.#policyMark = mark
    this.#policy = new Calendar({ windows, freezes })
  }

  /** Why nothing of it may start now. */
  closed(hours: Hours, now: Date): Reason | undefined {
    return this.#judge(hours, now, this.times.neededMs(hours.holder))
  }

  /** Why what was begun may not go on, were it to stop with its window. */
  shut(hours: Hours, now: Date): Reason | undefined {
    return this.#judge(hours, now, undefined)
  }

  #judge({ kinds, windows }: Hours, now: Date, neededMs: number | undefined): Reason | undefined {
    const calendars = windows ? [this.#policy, this.#calendarOf(windows)] : [this.#policy]
    const problem = calendars.find((calendar) => calendar.problem !== undefined)?.problem
    if (problem !== undefined) return { code: 'CalendarInvalid', message: `nothing starts: ${problem}` }
    const verdicts = kinds.map((kind) => judgeTime(calendars, kind, now.getTime(), neededMs))
    for (const { againAtMs } of verdicts) {
      if (againAtMs !== undefined) this.#nextMs = Math.min(this.#nextMs ?? againAtMs, againAtMs)
    }
    return verdicts.find(({ closed }) => closed)?.closed
  }

  isOpen(kind: WorkKind, now: Date): boolean {
    return !judgeTime([this.#policy], kind, now.getTime(), undefined).closed
  }

  /** When the answers of this pass may change. */
  againMs(now: Date): number | undefined {
    return this.#nextMs === undefined ? undefined : Math.max(1, this.#nextMs - now.getTime())
  }

  #calendarOf(windows: readonly WindowSpec[]): Calendar {
    const known = this.#own.get(windows)
    if (known) return known
    const calendar = new Calendar({ windows })
    this.#own.set(windows, calendar)
    return calendar
  }
}
