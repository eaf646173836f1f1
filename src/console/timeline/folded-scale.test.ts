import { expect, test } from 'vitest'
import { foldedScale, gaps, shownPieces, ticks } from './folded-scale.ts'
import { hourMs, minuteMs, ZoneClock } from './wall-clock.ts'

const at = (text: string) => Date.parse(text)
const berlin = new ZoneClock('Europe/Berlin')
const night = { from: at('2026-11-14T21:00:00Z'), to: at('2026-11-15T03:00:00Z') }
const nextNight = { from: at('2026-11-15T21:00:00Z'), to: at('2026-11-15T23:00:00Z') }
const range = { from: night.from, to: nextNight.to }

test('without a fold an instant lies where its share of the time is', () => {
  const scale = foldedScale(night, [night])
  expect([scale.at(night.from), scale.at(night.from + 3 * hourMs), scale.at(night.to)]).toEqual([0, 50, 100])
})

test('closed hours are folded, and both nights have one scale', () => {
  const scale = foldedScale(range, [night, nextNight])
  expect(scale.stretches.map(({ folded, width }) => [folded, Math.round(width * 100) / 100])).toEqual([
    [false, 71.25],
    [true, 5],
    [false, 23.75],
  ])
  expect(scale.at(nextNight.from)).toBeCloseTo(76.25)
  expect(scale.at(nextNight.from + hourMs) - scale.at(nextNight.from)).toBeCloseTo(
    scale.at(night.from + hourMs) - scale.at(night.from),
  )
})

test('what lies outside comes to lie on the edge', () => {
  const scale = foldedScale(range, [night, nextNight])
  expect([scale.at(range.from - hourMs), scale.at(range.to + hourMs)]).toEqual([0, 100])
})

test('a short gap is not folded, and many folds leave room for the rest', () => {
  const spans = [
    { from: 0, to: hourMs },
    { from: 2 * hourMs, to: 3 * hourMs },
  ]
  expect(foldedScale({ from: 0, to: 3 * hourMs }, spans).stretches).toHaveLength(1)
  const days = Array.from({ length: 20 }, (_, day) => ({ from: day * 24 * hourMs, to: (day * 24 + 1) * hourMs }))
  const { stretches } = foldedScale({ from: 0, to: 20 * 24 * hourMs }, days)
  expect(stretches.filter(({ folded }) => folded).reduce((sum, { width }) => sum + width, 0)).toBeCloseTo(40)
})

test('a span over a fold is drawn in pieces', () => {
  const scale = foldedScale(range, [night, nextNight])
  const span = { from: night.to - hourMs, to: nextNight.from + hourMs }
  expect(shownPieces(scale, span)).toEqual([
    { from: span.from, to: night.to },
    { from: nextNight.from, to: span.to },
  ])
})

test('ticks stand at whole hours of the wall, with the day at its first', () => {
  const marks = ticks(foldedScale(range, [night, nextNight]), berlin)
  expect(marks.map(({ time, day }) => (day ? `${day} ${time}` : time))).toEqual([
    ...['Sat 14 22:00', '23:00', 'Sun 15 00:00', '01:00', '02:00', '03:00', '04:00'],
    ...['Sun 15 22:00', '23:00', 'Mon 16 00:00'],
  ])
})

test('ticks of a run of minutes are minutes, in zones half an hour off too', () => {
  const short = { from: at('2026-11-14T21:02:30Z'), to: at('2026-11-14T21:21:00Z') }
  const marks = ticks(foldedScale(short, [short]), new ZoneClock('Asia/Kolkata'))
  expect(marks.map(({ time }) => time).slice(0, 3)).toEqual(['02:34', '02:36', '02:38'])
})

test('ticks never run into each other, however long the run', () => {
  const year = { from: range.from, to: range.from + 365 * 24 * hourMs }
  const marks = ticks(foldedScale(year, [year]), berlin)
  expect(marks.length).toBeGreaterThan(5)
  for (const [index, { left }] of marks.entries()) expect(left - (marks[index - 1]?.left ?? -10)).toBeGreaterThan(4.4)
})

test('gaps are what no span covers, overlaps and order left aside', () => {
  const spans = [
    { from: 50, to: 60 },
    { from: -10, to: 20 },
    { from: 10, to: 30 },
    { from: 90, to: 200 },
  ]
  expect(gaps({ from: 0, to: 100 }, spans)).toEqual([
    { from: 30, to: 50 },
    { from: 60, to: 90 },
  ])
  expect(gaps({ from: 0, to: minuteMs }, [])).toEqual([{ from: 0, to: minuteMs }])
})
