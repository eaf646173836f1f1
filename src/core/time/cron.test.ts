import { describe, expect, it } from 'vitest'
import { nextRun, parseCron } from './cron.ts'
import { zoneNamed } from './zone.ts'

function runs(text: string, zoneName: string, after: string, count: number): readonly string[] {
  const parsed = parseCron(text)
  const zone = zoneNamed(zoneName)
  if (!('cron' in parsed) || !zone) throw new Error(`${text} in ${zoneName}`)
  const found: string[] = []
  let atMs: number | undefined = Date.parse(after)
  while (found.length < count) {
    atMs = nextRun(parsed.cron, zone, atMs)
    if (atMs === undefined) break
    found.push(new Date(atMs).toISOString().slice(0, 16))
  }
  return found
}

describe('cron', () => {
  it.each([
    ['*/20 * * * *', ['2026-01-05T08:20', '2026-01-05T08:40', '2026-01-05T09:00']],
    ['0 2 * * 6', ['2026-01-10T02:00', '2026-01-17T02:00']],
    ['0 2 * * SAT,sun', ['2026-01-10T02:00', '2026-01-11T02:00']],
    ['0 2 * * 5-7', ['2026-01-09T02:00', '2026-01-10T02:00', '2026-01-11T02:00', '2026-01-16T02:00']],
    ['15 14 1 * *', ['2026-02-01T14:15', '2026-03-01T14:15']],
    ['0 0 29 2 *', ['2028-02-29T00:00', '2032-02-29T00:00']],
    ['0 0 13 * 5', ['2026-01-09T00:00', '2026-01-13T00:00', '2026-01-16T00:00']],
    ['0 0 *,13 * 5', ['2026-01-09T00:00', '2026-01-16T00:00']],
    ['0 0 13 * *', ['2026-01-13T00:00', '2026-02-13T00:00']],
    ['30 4-6/2 * jan,Jul mon', ['2026-01-12T04:30', '2026-01-12T06:30', '2026-01-19T04:30']],
    ['50/5 8 * * *', ['2026-01-05T08:50', '2026-01-05T08:55', '2026-01-06T08:50']],
    ['@daily', ['2026-01-06T00:00', '2026-01-07T00:00']],
    ['@yearly', ['2027-01-01T00:00']],
    ['@hourly', ['2026-01-05T09:00', '2026-01-05T10:00']],
  ])('%s', (text, expected) => {
    expect(runs(text, 'UTC', '2026-01-05T08:00:00Z', expected.length)).toEqual(expected)
  })

  it.each([
    ['0 2 * *', 'has 4 fields instead of five'],
    ['60 2 * * *', '"60" is no minute: write a number from 0 to 59'],
    ['0 24 * * *', '"24" is no hour'],
    ['0 2 0 * *', '"0" is no day of the month'],
    ['0 2 * 13 *', '"13" is no month'],
    ['0 2 * * 8', '"8" is no day of the week'],
    ['0 2 * * fri-mon', 'goes backwards'],
    ['*/0 * * * *', '"*/0" is no minute'],
    ['0 2 * * sunday', '"sunday" is no day of the week'],
    ['@reboot', 'has 1 fields'],
    ['30 2 30 2 *', 'never fires: none of its months has such a day'],
    ['0 0 31 4,6,9,11 *', 'never fires'],
    ['-1 0 * * *', '"-1" is no minute'],
    ['', 'has 1 fields'],
  ])('%s is refused', (text, problem) => {
    expect(parseCron(text)).toEqual({ problem: expect.stringContaining(problem) })
  })

  it('a day that never comes does no harm where a weekday is named as well', () => {
    expect(runs('0 0 30 2 mon', 'UTC', '2026-01-30T00:00:00Z', 1)).toEqual(['2026-02-02T00:00'])
  })

  describe('where clocks change', () => {
    // Berlin: 2026-03-29 01:00Z forward (02:00 -> 03:00), 2026-10-25 01:00Z back (03:00 -> 02:00).
    it('a time that is left out runs at the change, and not again', () => {
      expect(runs('30 2 * * *', 'Europe/Berlin', '2026-03-28T00:00:00Z', 3)).toEqual([
        '2026-03-28T01:30',
        '2026-03-29T01:00',
        '2026-03-30T00:30',
      ])
    })

    it('two times that are left out run as one, with the one they fall on', () => {
      expect(runs('0,30 2-3 * * *', 'Europe/Berlin', '2026-03-29T00:30:00Z', 3)).toEqual([
        '2026-03-29T01:00',
        '2026-03-29T01:30',
        '2026-03-30T00:00',
      ])
    })

    it('a time that comes twice runs the first time only', () => {
      expect(runs('30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00:00Z', 2)).toEqual([
        '2026-10-25T00:30',
        '2026-10-26T01:30',
      ])
      expect(runs('30 2 * * *', 'Europe/Berlin', '2026-10-25T01:10:00Z', 1)).toEqual(['2026-10-26T01:30'])
    })

    it('every hour is every hour that passes', () => {
      expect(runs('30 * * * *', 'Europe/Berlin', '2026-10-24T23:00:00Z', 4)).toEqual([
        '2026-10-24T23:30',
        '2026-10-25T00:30',
        '2026-10-25T01:30',
        '2026-10-25T02:30',
      ])
      expect(runs('30 * * * *', 'Europe/Berlin', '2026-03-29T00:00:00Z', 2)).toEqual([
        '2026-03-29T00:30',
        '2026-03-29T01:30',
      ])
    })

    it('half an hour on Lord Howe', () => {
      expect(runs('15 2 * * *', 'Australia/Lord_Howe', '2026-10-03T00:00:00Z', 2)).toEqual([
        '2026-10-03T15:30',
        '2026-10-04T15:15',
      ])
    })
  })

  it('knows no zone that there is not', () => {
    expect(zoneNamed('Europe/Bielefeld')).toBeUndefined()
  })
})
