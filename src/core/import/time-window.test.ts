import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { weekdays, windowSchema } from '../../api/window.ts'
import { readWindow } from '../time/window.ts'
import { onlyFor, readForeignWindow } from './time-window.ts'

const names = { days: '--reboot-days', start: '--start-time', end: '--end-time', timeZone: '--time-zone' }
const read = (given: Parameters<typeof readForeignWindow>[0]) => readForeignWindow(given, names)
const minute = 60_000

/** As kured has it: the day it is, the end's own second included, over midnight where the start is the later one. */
function isOpenThere(days: readonly number[], start: number, end: number, at: Date): boolean {
  if (!days.includes(at.getUTCDay())) return false
  const now = at.getUTCHours() * 3600 + at.getUTCMinutes() * 60 + at.getUTCSeconds()
  return start > end ? now >= start || now <= end : now >= start && now <= end
}

describe('a window of days, start and end', () => {
  it.each([
    [{}, []],
    [{ days: ['su', '1', 'Tuesday', 'wed', 'th', '5', 'SAT'] }, []],
    [{ start: '9am', end: '5pm' }, [{ start: '09:00', end: '17:00' }]],
    [{ start: '12am', end: '12:30pm' }, [{ start: '00:00', end: '12:30' }]],
    [
      { start: '22', end: '04:00', timeZone: 'Europe/Berlin' },
      [{ start: '22:00', end: '04:00', timeZone: 'Europe/Berlin' }],
    ],
    [{ start: '22:00', end: '0:00' }, [{ start: '22:00', end: '24:00' }]],
    [{ days: ['sa'], start: '22:30' }, [{ days: ['Sat'], start: '22:30', end: '24:00' }]],
    [{ days: ['sat'], timeZone: '' }, [{ days: ['Sat'], start: '00:00', end: '24:00' }]],
  ])('%o', (given, windows) => {
    expect(read(given)).toEqual({ windows, remarks: [] })
    for (const window of windows) expect(windowSchema.safeParse(window).success).toBe(true)
  })

  it.each([
    [{ days: ['someday'] }, '--reboot-days someday: no day of the week'],
    [{ days: ['7'] }, '--reboot-days 7: no day of the week'],
    [{ days: [] }, '--reboot-days: names no day'],
    [{ start: '24:00' }, '--start-time 24:00: no time of the day'],
    [{ end: '13pm' }, '--end-time 13pm: no time of the day'],
    [{ end: '12:60' }, '--end-time 12:60: no time of the day'],
    [{ timeZone: 'Local' }, '--time-zone Local: the tz database has no such zone'],
    [{ start: '9:00', end: '9:00' }, '--start-time, --end-time: open for less than a minute'],
    [{ start: '23:59:30' }, '--start-time, --end-time: open for less than a minute'],
  ])('%o opens nothing', (given, what) => {
    const { windows, remarks } = read(given)
    expect(remarks).toEqual([{ kind: 'ToFillIn', what, text: expect.any(String) }])
    expect(windows.map((window) => windowSchema.safeParse(window).success)).toEqual([false])
  })

  it('is open exactly when the other tool had it open', () => {
    const time = fc.integer({ min: 0, max: 1439 })
    const chosen = fc.uniqueArray(fc.integer({ min: 0, max: 6 }), { minLength: 1 })
    const at = fc.integer({ min: 0, max: 30 * 1440 }).map((count) => new Date(Date.UTC(2026, 2, 1) + count * minute))
    fc.assert(
      fc.property(chosen, time, time, fc.array(at, { minLength: 20, maxLength: 20 }), (days, start, end, instants) => {
        fc.pre(start !== end)
        const clock = (minutes: number) => `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, '0')}`
        const { windows } = read({ days: days.map(String), start: clock(start), end: `${clock(end)}:59` })
        const openings = windows.map(readWindow)
        for (const instant of instants) {
          const isOpen =
            windows.length === 0 ||
            openings.some((opening) => {
              if (!('value' in opening)) throw new Error(opening.problem)
              const span = opening.value.at(instant.getTime())
              return span !== undefined && span.fromMs <= instant.getTime() && instant.getTime() < span.toMs
            })
          expect({ instant, isOpen }).toEqual({
            instant,
            isOpen: isOpenThere(days, start * 60, end * 60 + 59, instant),
          })
        }
      }),
    )
  })

  it('leaves other kinds of work as they were', () => {
    expect(onlyFor('Reboot', [])).toEqual([])
    const { windows } = read({ days: [...weekdays].slice(0, 1) })
    expect(onlyFor('Reboot', windows)).toEqual([
      { days: ['Mon'], start: '00:00', end: '24:00', work: ['Reboot'] },
      { start: '00:00', end: '24:00', work: ['Update', 'Profile', 'Maintenance'] },
    ])
  })
})
