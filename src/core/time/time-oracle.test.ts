// Cron, windows and freezes against an oracle that knows none of ours, in every zone.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { everFires, hour, minute, openFor, runsOf, walk, wallClock } from '../../../test/samples/time-oracle.ts'
import { type FreezeSpec, type WindowSpec, weekdays, workKinds } from '../../api/window.ts'
import { Calendar } from './calendar.ts'
import { nextRun, parseCron } from './cron.ts'
import { zoneNamed } from './zone.ts'

const from = Date.UTC(2020, 0, 1)
const to = Date.UTC(2040, 0, 1)
const zones = Intl.supportedValuesOf('timeZone')
const seed = Number(process.env.SLIPWAY_SEED ?? Date.now() % 1_000_000)
const lookedAtMs = 26 * hour

const months = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ')
const days = 'sun mon tue wed thu fri sat'.split(' ')
const nicknames = ['@hourly', '@daily', '@midnight', '@weekly', '@monthly', '@yearly', '@annually', ' @Daily ']

/** One of all forms that a field may have. */
function field(min: number, max: number, names: readonly string[] = []) {
  const value = fc.integer({ min, max })
  const text = fc.tuple(value, fc.constantFrom('plain', 'name', 'NAME')).map(([number, how]) => {
    const name = how === 'plain' ? undefined : names[number - min]
    return (how === 'NAME' ? name?.toUpperCase() : name) ?? String(number)
  })
  const range = fc.tuple(value, value).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`)
  const step = fc.integer({ min: 1, max: 15 })
  const item = fc.oneof(
    { weight: 4, arbitrary: text },
    { weight: 2, arbitrary: range },
    fc.tuple(range, step).map((parts) => parts.join('/')),
    fc.tuple(text, step).map((parts) => parts.join('/')),
    step.map((every) => `*/${every}`),
    fc.constantFrom('*', '?'),
  )
  const list = fc.array(item, { minLength: 1, maxLength: 3 }).map((items) => items.join(','))
  return fc.oneof({ weight: 2, arbitrary: fc.constant('*') }, { weight: 3, arbitrary: list })
}

/** Steps go up to Saturday: from 7 there is nowhere to go. */
const weekdaysTo7 = field(0, 7).filter((text) => !/(^|,)7\//.test(text))
const crons = fc.oneof(
  {
    weight: 9,
    arbitrary: fc
      .tuple(
        field(0, 59),
        fc.oneof(field(0, 23), field(0, 4)),
        field(1, 31),
        fc.oneof({ weight: 3, arbitrary: fc.constant('*') }, field(1, 12, months)),
        fc.oneof(weekdaysTo7, field(0, 6, days)),
      )
      .map((parts) => parts.join(' ')),
  },
  fc.constantFrom(...nicknames),
)

/** Mostly shortly before a change of the clocks, since that is where things go wrong. */
const moments = (zone: string) =>
  fc
    .tuple(fc.integer({ min: from / minute, max: to / minute - 7 * 1440 }), fc.integer({ min: 1, max: 12 }))
    .map(([at, before]) => {
      const change = zoneNamed(zone)?.nextChange(at * minute, to)
      return change === undefined ? at * minute : Math.floor(change / minute - before * 60) * minute
    })

const timeOfDay = fc
  .tuple(
    fc.oneof(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 4 })),
    fc.constantFrom('00', '15', '30', '59'),
  )
  .map(([hours, minutes]) => `${String(hours).padStart(2, '0')}:${minutes}`)
const work = fc.option(fc.uniqueArray(fc.constantFrom(...workKinds), { minLength: 1 }), { freq: 3 })
const dailyWindows = fc
  .record({
    days: fc.option(fc.uniqueArray(fc.constantFrom(...weekdays), { minLength: 1 })),
    start: timeOfDay,
    end: fc.oneof({ weight: 5, arbitrary: timeOfDay }, fc.constant('24:00')),
  })
  .filter(({ start, end }) => start !== end)
  .map(({ days: named, start, end }): WindowSpec => ({ ...(named && { days: named }), start, end }))
const cronWindows = fc
  .tuple(
    crons,
    fc.oneof(
      fc.integer({ min: 1, max: 600 }).map((count) => `${count}m`),
      fc.constantFrom('1h', '30h'),
    ),
  )
  .filter(([cron]) => 'cron' in parseCron(cron))
  .map(([cron, duration]): WindowSpec => ({ cron, duration }))
const windows = fc.array(
  fc
    .tuple(fc.oneof(dailyWindows, cronWindows), work)
    .map(([spec, kinds]): WindowSpec => ({ ...spec, ...(kinds && { work: kinds }) })),
  { maxLength: 3 },
)
/** Around an instant, by the day or by the minute. */
const freezes = (atMs: number) => {
  const bound = (least: number, most: number) =>
    fc
      .tuple(fc.integer({ min: least * 60, max: most * 60 }), fc.boolean())
      .map(([off, byDay]) => new Date(atMs + off * minute).toISOString().slice(0, byDay ? 10 : 16) + (byDay ? '' : 'Z'))
  return fc.array(
    fc
      .tuple(bound(-48, 24), bound(0, 48), work)
      .map(([begin, end, kinds]): FreezeSpec => ({ from: begin, to: end, reason: 'x', ...(kinds && { work: kinds }) })),
    { maxLength: 2 },
  )
}

/** Each zone once, with draws of its own. */
function inEveryZone<T>(draws: (zone: string) => fc.Arbitrary<T>, check: (zone: string, drawn: T) => void): void {
  for (const [index, zone] of zones.entries()) {
    fc.assert(
      fc.property(draws(zone), (drawn) => check(zone, drawn)),
      { seed: seed + index, numRuns: 1 },
    )
  }
}

describe(`time in every zone, 2020 to 2040 (SLIPWAY_SEED=${seed})`, () => {
  it('the wall is where the engine draws it, every week and at every change', { timeout: 120_000 }, () => {
    const wrong: string[] = []
    for (const name of zones) {
      const zone = zoneNamed(name)
      if (!zone) throw new Error(name)
      const wallAt = wallClock(name)
      const look = (atMs: number) => {
        if (Math.floor(zone.wallAt(atMs) / minute) * minute !== wallAt(atMs)) {
          wrong.push(`${name} ${new Date(atMs).toISOString()}`)
        }
      }
      for (let at = from + (seed % 1440) * minute; at < to; at += 7 * 24 * hour) look(at)
      for (let at = zone.nextChange(from, to); at !== undefined; at = zone.nextChange(at, to)) {
        look(at - minute)
        look(at)
      }
    }
    expect(wrong).toEqual([])
  })

  it('cron runs when it should, none lost and none twice', { timeout: 120_000 }, () => {
    let refused = 0
    let ran = 0
    inEveryZone(
      (zone) => fc.record({ atMs: moments(zone), texts: fc.array(crons, { minLength: 8, maxLength: 8 }) }),
      (name, { atMs, texts }) => {
        const zone = zoneNamed(name)
        if (!zone) throw new Error(name)
        const walked = walk(name, atMs, atMs + lookedAtMs, 3 * hour)
        for (const text of texts) {
          const parsed = parseCron(text)
          if ('problem' in parsed) {
            expect(parsed.problem).toContain('never fires')
            expect(everFires(text), text).toBe(false)
            refused++
            continue
          }
          const runs: number[] = []
          let run = nextRun(parsed.cron, zone, atMs)
          for (; run !== undefined && run <= atMs + lookedAtMs; run = nextRun(parsed.cron, zone, run)) runs.push(run)
          expect(runs, `${text} in ${name}`).toEqual(runsOf(text, walked).filter((at) => at > atMs))
          ran += Math.min(1, runs.length)
        }
      },
    )
    // Draws that never come to anything would prove nothing.
    expect(ran).toBeGreaterThan(zones.length * 2)
    expect(refused).toBeLessThan(zones.length)
  })

  it('work may start when windows and freezes say so, and until when they say', { timeout: 120_000 }, () => {
    const seen = { open: 0, closed: 0 }
    inEveryZone(
      (zone) =>
        moments(zone).chain((atMs) =>
          fc.record({
            atMs: fc.constant(atMs),
            calendars: fc.array(fc.record({ windows, freezes: freezes(atMs), kind: fc.constantFrom(...workKinds) }), {
              minLength: 1,
              maxLength: 1,
            }),
          }),
        ),
      (timeZone, { atMs, calendars }) => {
        const walked = walk(timeZone, atMs, atMs + lookedAtMs, 36 * hour)
        for (const { kind, ...drawn } of calendars) {
          const terms = {
            windows: drawn.windows.map((spec) => ({ ...spec, timeZone })),
            freezes: drawn.freezes.map((spec) => ({ ...spec, timeZone })),
          }
          const calendar = new Calendar(terms)
          if (calendar.problem !== undefined) {
            expect(calendar.problem).toContain('before it begins')
            continue
          }
          const expected = openFor(kind, terms.windows, terms.freezes, walked)
          const opening = calendar.openingFor(kind)
          for (let at = atMs; at <= atMs + lookedAtMs; at += 191 * minute) {
            const span = opening.at(at)
            const isOpen = span !== undefined && span.fromMs <= at
            seen[isOpen ? 'open' : 'closed']++
            // Up to its end it is as it is now, and at its end it is not.
            const until = (isOpen ? span.toMs : span?.fromMs) ?? Number.POSITIVE_INFINITY
            const told = []
            for (let then = at; then <= Math.min(until, atMs + lookedAtMs); then += minute) {
              if (expected.get(then) !== (then < until ? isOpen : !isOpen)) told.push(new Date(then).toISOString())
            }
            expect(told, `${timeZone} ${kind} ${JSON.stringify(terms)} at ${new Date(at).toISOString()}`).toEqual([])
          }
        }
      },
    )
    expect(Math.min(seen.open, seen.closed)).toBeGreaterThan(zones.length)
  })
})
