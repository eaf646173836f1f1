import type { CalendarView } from '../../../api/console.ts'
import type { Night } from '../../timeline/nights.ts'
import type { ZoneClock } from '../../timeline/wall-clock.ts'

interface Timed {
  readonly from: string
  readonly to: string
}

/** A night of the calendar for those who do not see it. */
export function nightSentence(night: Night, calendar: CalendarView, clock: ZoneClock): string {
  const inside = <T extends Timed>(all: readonly T[]) =>
    all.filter(({ from, to }) => Date.parse(from) < night.to && Date.parse(to) > night.from)
  const span = ({ from, to }: Timed) => {
    const [begins, ends] = [Math.max(Date.parse(from), night.from), Math.min(Date.parse(to), night.to)]
    return `${clock.time(begins)} to ${clock.time(ends)}`
  }
  const parts = [
    ...inside(calendar.windows).map((window) => `window ${span(window)}`),
    ...inside(calendar.freezes).map((freeze) => `freeze ${span(freeze)}, ${freeze.reason}`),
    ...inside(calendar.runs).map((run) => `${run.update} ${run.predicted ? 'predicted' : 'ran'} ${span(run)}`),
  ]
  const nothing = calendar.always ? 'nothing planned' : 'no window'
  return `${night.day} to ${night.next}: ${parts.length === 0 ? nothing : parts.join('; ')}`
}
