import { describe, expect, it } from 'vitest'
import type { DirectUpdate, UpdatePhase } from '../../api/direct-update.ts'
import type { UpdateSchedule, UpdateScheduleStatus } from '../../api/schedule.ts'
import { decideSchedule } from './update-schedule.ts'

const metadata = { name: 'patches', uid: 'u1', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00.000Z' }
const template = { spec: { reboot: 'IfRequired' as const } }
const schedule = (spec: Partial<UpdateSchedule['spec']> = {}, status?: UpdateScheduleStatus): UpdateSchedule => ({
  metadata,
  spec: { cron: '0 2 * * *', template, ...spec },
  ...(status && { status }),
})
const at = (text: string) => new Date(`2026-01-${text}:00.000Z`)
const minutes = (text: string) => at(text).getTime() / 60_000
const run = (text: string, phase: UpdatePhase): DirectUpdate => ({
  metadata: { ...metadata, name: `patches-${minutes(text)}` },
  spec: template.spec,
  status: { phase },
})
const seen: UpdateScheduleStatus = {
  ...{ active: 0, since: metadata.creationTimestamp, times: '0 2 * * * UTC' },
  ...{ lastScheduled: '2026-01-04T02:00:00.000Z', nextScheduled: '2026-01-05T02:00:00.000Z' },
}
const decide = (due: UpdateSchedule, made: readonly DirectUpdate[], now: Date, holding: readonly DirectUpdate[] = []) =>
  decideSchedule(due, made, new Set(holding.map(({ metadata }) => metadata.name)), now)

describe('a schedule', () => {
  it('waits for its next time', () => {
    const untilMs = at('05T02:00').getTime()
    expect(decide(schedule({}, seen), [], at('04T03:00'))).toEqual({ action: 'wait', untilMs })
  })

  it('names a run by its minute, so that it is made once', () => {
    const due = schedule({}, seen)
    expect(decide(due, [], at('05T02:00'))).toMatchObject({
      action: 'make',
      name: `patches-${minutes('05T02:00')}`,
    })
    expect(decide(due, [run('05T02:00', 'InProgress')], at('05T02:01'))).toMatchObject({
      action: 'record',
      status: { lastScheduled: '2026-01-05T02:00:00.000Z', active: 1, nextScheduled: '2026-01-06T02:00:00.000Z' },
    })
  })

  it('does not go by a clock that was set back', () => {
    const late = { ...seen, lastScheduled: '2026-01-05T02:00:00.000Z', nextScheduled: '2026-01-06T02:00:00.000Z' }
    expect(decide(schedule({}, late), [], at('04T12:00'))).toMatchObject({ action: 'wait' })
    expect(decide(schedule({}, late), [], at('05T02:00'))).toMatchObject({ action: 'wait' })
  })

  it.each([{ since: '2027-01-05T02:00:00.000Z' }, { lastScheduled: '2027-01-05T02:00:00.000Z' }])(
    'goes on at its next time when a clock was a year ahead and wrote %j',
    (wrong) => {
      const ahead = { ...seen, ...wrong, nextScheduled: '2027-01-06T02:00:00.000Z' }
      const decision = decide(schedule({}, ahead), [], at('05T01:00'))
      expect(decision).toMatchObject({
        action: 'record',
        status: { since: '2026-01-05T01:00:00.000Z', nextScheduled: '2026-01-05T02:00:00.000Z' },
      })
      const { status } = decision as { readonly status: UpdateScheduleStatus }
      expect(decide(schedule({}, status), [], at('05T01:30'))).toMatchObject({ action: 'wait' })
      expect(decide(schedule({}, status), [], at('05T02:00'))).toMatchObject({
        action: 'make',
        name: `patches-${minutes('05T02:00')}`,
      })
    },
  )

  it('makes the latest of those it missed, where it is not too late', () => {
    const due = schedule({ startBy: '3h' }, seen)
    expect(decide(due, [], at('09T04:00'))).toMatchObject({
      action: 'make',
      name: `patches-${minutes('09T02:00')}`,
    })
    expect(decide(due, [], at('09T06:00'))).toMatchObject({
      action: 'record',
      missed: 5,
      status: { lastScheduled: '2026-01-09T02:00:00.000Z' },
    })
  })

  it('of other times counts nothing that lies before they were seen', () => {
    const edited = schedule({ cron: '0 1 * * *' }, { ...seen, lastScheduled: '2026-01-04T02:00:00.000Z' })
    expect(decide(edited, [], at('05T01:30'))).toMatchObject({
      action: 'record',
      status: { since: '2026-01-05T01:30:00.000Z', nextScheduled: '2026-01-06T01:00:00.000Z' },
    })
  })

  it.each([
    ['Forbid', 'wait'],
    ['Replace', 'record'],
    ['Allow', 'make'],
  ] as const)('that meets its predecessor: %s', (overlap, action) => {
    const due = schedule({ overlap }, { ...seen, active: 1, nextScheduled: '2026-01-06T02:00:00.000Z' })
    expect(decide(due, [run('04T02:00', 'InProgress')], at('05T02:00'))).toMatchObject({ action })
  })

  describe('that replaces its predecessor', () => {
    const spec = { overlap: 'Replace' } as const
    const replacing = '2026-01-05T02:00:00.000Z'
    const owing = { ...seen, active: 1, nextScheduled: '2026-01-06T02:00:00.000Z', replacing }
    const cancelled = (phase: UpdatePhase, finishedAt?: string): DirectUpdate => ({
      ...run('04T02:00', phase),
      spec: { ...template.spec, desiredState: 'Cancelled' },
      status: { phase, ...(finishedAt !== undefined && { finishedAt }) },
    })

    it('says so before it cancels all that are open', () => {
      const made = [cancelled('InProgress'), run('03T02:00', 'InProgress')]
      const due = schedule(spec, { ...seen, active: 2 })
      expect(decide(due, made, at('05T02:00'))).toMatchObject({ action: 'record', status: { replacing } })
      expect(decide(schedule(spec, { ...owing, active: 2 }), made, at('05T02:00'))).toEqual({
        action: 'cancel',
        update: made[1],
      })
    })

    it('waits for its end and then has startBy, however late that is', () => {
      const untilMs = at('06T02:00').getTime()
      expect(decide(schedule(spec, owing), [cancelled('InProgress')], at('05T20:00'))).toEqual({
        action: 'wait',
        untilMs,
      })
      const ended = [cancelled('Cancelled', '2026-01-05T20:00:00.000Z')]
      expect(decide(schedule(spec, owing), ended, at('05T21:00'))).toEqual({
        action: 'make',
        name: `patches-${minutes('05T02:00')}`,
        untilMs: at('05T21:00').getTime(),
      })
      expect(decide(schedule(spec, owing), ended, at('05T21:01'))).toMatchObject({ missed: 1 })
    })

    it('gives way to the next time, and forgets it where it no longer replaces', () => {
      expect(decide(schedule(spec, owing), [cancelled('InProgress')], at('06T02:00'))).toMatchObject({
        status: { replacing: '2026-01-06T02:00:00.000Z' },
      })
      const decision = decide(schedule({}, owing), [cancelled('InProgress')], at('05T20:00'))
      expect(decision).toMatchObject({ action: 'record', missed: 1 })
      expect(decision).not.toHaveProperty('status.replacing')
    })

    it('does not replace it later than startBy', () => {
      const due = schedule(spec, { ...seen, active: 1 })
      expect(decide(due, [run('04T02:00', 'InProgress')], at('05T03:01'))).toMatchObject({ missed: 1 })
    })
  })

  it('removes the oldest of those that have ended', () => {
    const made = [run('03T02:00', 'Failed'), run('02T02:00', 'Succeeded'), run('04T02:00', 'Succeeded')]
    expect(decide(schedule({ keep: 2 }, seen), made, at('04T03:00'))).toMatchObject({
      action: 'remove',
      update: { metadata: { name: `patches-${minutes('02T02:00')}` } },
    })
  })

  it('keeps one that still holds a node, however old it is, and the others as before', () => {
    const [failed, older, newer] = [
      run('02T02:00', 'Failed'),
      run('03T02:00', 'Succeeded'),
      run('04T02:00', 'Succeeded'),
    ]
    const due = schedule({ keep: 1 }, seen)
    expect(decide(due, [failed, newer], at('04T03:00'), [failed])).toMatchObject({ action: 'wait' })
    expect(decide(due, [failed, older, newer], at('04T03:00'), [failed])).toEqual({ action: 'remove', update: older })
    expect(decide(due, [failed, newer], at('04T03:00'))).toEqual({ action: 'remove', update: failed })
  })

  it.each([
    [{ cron: '30 2 30 2 *' }, 'never fires'],
    [{ cron: 'daily' }, 'five'],
    [{ timeZone: 'Europe/Bielefeld' }, 'Europe/Bielefeld'],
  ])('that cannot be read is refused: %j', (spec, words) => {
    expect(decide(schedule(spec), [], at('04T03:00'))).toMatchObject({
      action: 'record',
      reason: { code: 'ScheduleInvalid', message: expect.stringContaining(words) },
    })
  })

  it.each([{ cron: 'daily' }, { timeZone: 'Europe/Bielefeld' }])(
    'that could not be read for a while goes on from when it can, and makes nothing up: %j',
    (wrong) => {
      const statusOf = (spec: Partial<UpdateSchedule['spec']>, before: UpdateScheduleStatus | undefined, now: Date) => {
        const decision = decide(schedule(spec, before), [], now)
        return decision.action === 'record' ? decision.status : undefined
      }
      const invalid = statusOf(wrong, { ...seen, lastUpdate: 'patches-1' }, at('04T03:00'))
      expect(invalid).toMatchObject({ lastScheduled: seen.lastScheduled, lastUpdate: 'patches-1' })
      expect(invalid).not.toHaveProperty('nextScheduled')
      const corrected = decide(schedule({}, invalid), [], at('09T02:30'))
      expect(corrected).toMatchObject({
        action: 'record',
        status: {
          ...{ lastScheduled: seen.lastScheduled, lastUpdate: 'patches-1' },
          ...{ since: '2026-01-09T02:30:00.000Z', nextScheduled: '2026-01-10T02:00:00.000Z' },
        },
      })
      expect(corrected).not.toHaveProperty('missed')
      expect(statusOf({}, statusOf(wrong, undefined, at('04T03:00')), at('09T02:30'))).toMatchObject({
        since: '2026-01-09T02:30:00.000Z',
      })
    },
  )

  it('looks at years of every minute in no time', () => {
    const old = { ...metadata, creationTimestamp: '2010-01-01T00:00:00.000Z' }
    const due = { ...schedule({ cron: '* * * * *' }), metadata: old }
    expect(decide(due, [], at('05T02:00'))).toMatchObject({
      action: 'make',
      name: `patches-${minutes('05T02:00')}`,
    })
  })
})
