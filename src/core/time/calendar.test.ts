import { describe, expect, it } from 'vitest'
import { type FreezeSpec, type WindowSpec, type WorkKind, workKinds } from '../../api/window.ts'
import { Calendar, judgeTime } from './calendar.ts'

const at = (text: string) => Date.parse(`2026-01-${text}:00Z`)
const minute = 60_000
const nightly: WindowSpec = { start: '22:00', end: '04:00' }
const yearEnd: FreezeSpec = { from: '2026-01-10', to: '2026-01-12', reason: 'stocktaking' }

function judge(
  windows: readonly WindowSpec[],
  now: string,
  {
    freezes = [],
    own,
    work = 'Update',
    neededMs,
  }: {
    freezes?: readonly FreezeSpec[]
    own?: readonly WindowSpec[]
    work?: WorkKind
    neededMs?: number
  } = {},
): string {
  const calendars = [new Calendar({ windows, freezes }), ...(own ? [new Calendar({ windows: own })] : [])]
  const { closed, againAtMs } = judgeTime(calendars, work, at(now), neededMs)
  const again = againAtMs === undefined ? 'never' : new Date(againAtMs).toISOString().slice(8, 16)
  return `${closed?.code ?? 'open'} ${again}`
}

describe('a calendar', () => {
  it.each<[string, readonly WindowSpec[], string, Parameters<typeof judge>[2], string]>([
    ['without windows is always open', [], '05T12:00', {}, 'open never'],
    ['is closed by day', [nightly], '05T12:00', {}, 'OutsideWindow 05T22:00'],
    ['is open at night', [nightly], '05T22:00', {}, 'open 06T04:00'],
    ['is open after midnight', [nightly], '06T03:59', {}, 'open 06T04:00'],
    ['closes on time', [nightly], '06T04:00', {}, 'OutsideWindow 06T22:00'],
    ['goes by the day it opened', [{ ...nightly, days: ['Mon'] }], '06T03:00', {}, 'open 06T04:00'],
    ['and not by the day it is', [{ ...nightly, days: ['Tue'] }], '06T03:00', {}, 'OutsideWindow 06T22:00'],
    ['joins what touches', [nightly, { start: '04:00', end: '06:00' }], '05T23:00', {}, 'open 06T06:00'],
    ['joins what overlaps', [nightly, { cron: '0 3 * * *', duration: '5h' }], '05T23:00', {}, 'open 06T08:00'],
    ['is open all day long', [{ start: '00:00', end: '24:00', days: ['Mon', 'Tue'] }], '05T10:00', {}, 'open 07T00:00'],
    ['keeps kinds apart', [{ ...nightly, work: ['Reboot'] }], '05T23:00', {}, 'WindowNeverOpens never'],
    ['and lets in its own', [{ ...nightly, work: ['Reboot'] }], '05T23:00', { work: 'Reboot' }, 'open 06T04:00'],
    [
      'takes what both allow',
      [nightly],
      '05T22:30',
      { own: [{ start: '01:00', end: '09:00' }] },
      'OutsideWindow 06T01:00',
    ],
    ['until one closes', [nightly], '06T02:00', { own: [{ start: '01:00', end: '09:00' }] }, 'open 06T04:00'],
    [
      'knows when two never meet',
      [nightly],
      '06T02:00',
      { own: [{ start: '10:00', end: '11:00' }] },
      'WindowNeverOpens never',
    ],
    ['is frozen for whole days', [], '10T00:00', { freezes: [yearEnd] }, 'Frozen 13T00:00'],
    ['closes before a freeze', [], '09T12:00', { freezes: [yearEnd] }, 'open 10T00:00'],
    ['opens with the window after a freeze', [nightly], '11T23:00', { freezes: [yearEnd] }, 'Frozen 13T00:00'],
    [
      'begins nothing that would not be done',
      [nightly],
      '06T03:30',
      { neededMs: 40 * minute },
      'WindowTooShort 06T04:00',
    ],
    ['begins what would', [nightly], '06T03:30', { neededMs: 20 * minute }, 'open 06T04:00'],
    [
      'begins early what never fits',
      [{ cron: '0 3 * * *', duration: '30m' }],
      '06T03:10',
      { neededMs: 90 * minute },
      'open 06T03:30',
    ],
    [
      'but not late',
      [{ cron: '0 3 * * *', duration: '30m' }],
      '06T03:20',
      { neededMs: 90 * minute },
      'WindowTooShort 06T03:30',
    ],
  ])('%s', (_name, windows, now, more, expected) => {
    expect(judge(windows, now, more)).toBe(expected)
  })

  it.each<[readonly WindowSpec[], readonly FreezeSpec[], string]>([
    [[{ ...nightly, timeZone: 'Europe/Bielefeld' }], [], 'time zone "Europe/Bielefeld" is not known'],
    [[{ cron: '0 25 * * *', duration: '1h' }], [], '"25" is no hour'],
    [[], [{ from: '2026-02-30', to: '2026-03-01', reason: 'x' }], '2026-02-30 is no day of the calendar'],
    [[], [{ from: '2026-03-02', to: '2026-03-01', reason: 'x' }], 'ends (2026-03-01) before it begins'],
  ])('says what is wrong: %j %j', (windows, freezes, problem) => {
    expect(new Calendar({ windows, freezes }).problem).toContain(problem)
  })

  it('freezes some kinds of work only', () => {
    const calendar = new Calendar({ freezes: [{ ...yearEnd, work: ['Update'] }] })
    const closed = workKinds.filter((work) => judgeTime([calendar], work, at('11T00:00'), undefined).closed)
    expect(closed).toEqual(['Update'])
  })
})
