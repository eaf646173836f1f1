import { describe, expect, it } from 'vitest'
import type { DirectUpdate, UpdatePhase } from '../../api/direct-update.ts'
import type { ScheduledUpdate, ScheduledUpdateStatus } from '../../api/schedule.ts'
import { decideScheduled, instantOf, labelFor, nameFor } from './scheduled-update.ts'

const metadata = {
  name: 'night',
  uid: '12345678-90',
  resourceVersion: '1',
  creationTimestamp: '2026-01-01T00:00:00Z',
  generation: 3,
}
const template = { spec: { reboot: 'Always' as const } }
const scheduled = (status: ScheduledUpdateStatus = {}, at = '2026-01-05T22:00:00+01:00'): ScheduledUpdate => ({
  metadata,
  spec: { at, template },
  status,
})
const update = (phase?: UpdatePhase): DirectUpdate => ({
  metadata: { ...metadata, name: 'night-12345678', creationTimestamp: '2026-01-05T21:00:01Z' },
  spec: template.spec,
  ...(phase && { status: { phase } }),
})
const time = (text: string) => new Date(`2026-01-05T${text}Z`)
const at = '2026-01-05T21:00:00.000Z'
const named = { at, phase: 'Executing' as const, update: 'night-12345678' }
const done = { ...named, executedAt: '2026-01-05T21:00:01Z' }

describe('an update at a given time', () => {
  it('waits', () => {
    expect(decideScheduled(scheduled({ at, phase: 'Scheduled' }), undefined, time('20:00:00'))).toEqual({
      action: 'wait',
      untilMs: Date.parse(at),
    })
  })

  it('is named before it is made, and recorded after', () => {
    expect(decideScheduled(scheduled(), undefined, time('21:00:00'))).toEqual({ action: 'record', status: named })
    expect(decideScheduled(scheduled(named), undefined, time('22:00:00'))).toEqual({
      action: 'make',
      name: named.update,
      untilMs: time('22:00:00').getTime(),
    })
    expect(decideScheduled(scheduled(named), update(), time('21:00:02'))).toEqual({ action: 'record', status: done })
  })

  it('is missed after startBy, and planned anew when it is edited', () => {
    expect(decideScheduled(scheduled(), undefined, time('22:00:01'))).toMatchObject({ status: { phase: 'Missed' } })
    const missed: ScheduledUpdateStatus = { at, phase: 'Missed', observedGeneration: 3 }
    expect(decideScheduled(scheduled(missed), undefined, time('23:00:00'))).toEqual({ action: 'wait' })
    const edited = scheduled({ ...missed, observedGeneration: 2 }, '2026-01-06T21:00:00Z')
    expect(decideScheduled(edited, undefined, time('23:00:00'))).toMatchObject({ status: { phase: 'Scheduled' } })
  })

  it('is missed as well where it was named and nobody made it: nothing of the name stays', () => {
    expect(decideScheduled(scheduled(named), undefined, time('22:00:01'))).toEqual({
      action: 'record',
      status: { at, phase: 'Missed', missedAt: '2026-01-05T22:00:01.000Z' },
    })
  })

  it('keeps when it was missed, also where it is edited and stays so', () => {
    const missed: ScheduledUpdateStatus = { at, phase: 'Missed', missedAt: '2026-01-05T22:00:01.000Z' }
    expect(decideScheduled(scheduled({ ...missed, observedGeneration: 2 }), undefined, time('23:00:00'))).toEqual({
      action: 'record',
      status: missed,
    })
    const earlier = scheduled({ ...missed, observedGeneration: 2 }, '2026-01-05T20:00:00Z')
    expect(decideScheduled(earlier, undefined, time('23:00:00'))).toMatchObject({
      status: { missedAt: '2026-01-05T23:00:00.000Z' },
    })
  })

  it('that was made in spite of what was seen is followed', () => {
    const missed: ScheduledUpdateStatus = { at, phase: 'Missed', observedGeneration: 3 }
    expect(decideScheduled(scheduled(missed), update('InProgress'), time('22:00:02'))).toEqual({
      action: 'record',
      status: done,
    })
  })

  it('waits again where the clock was ahead', () => {
    const missed: ScheduledUpdateStatus = { at, phase: 'Missed', observedGeneration: 3 }
    for (const status of [missed, named]) {
      expect(decideScheduled(scheduled(status), undefined, time('20:00:00'))).toEqual({
        action: 'record',
        status: { at, phase: 'Scheduled' },
      })
    }
    expect(decideScheduled(scheduled(missed), undefined, time('21:30:00'))).toEqual({ action: 'wait' })
  })

  it.each([
    ['InProgress', 'Executing'],
    ['Succeeded', 'Completed'],
    ['Planned', 'Completed'],
    ['Failed', 'Failed'],
    ['Cancelled', 'Cancelled'],
  ] as const)('of an update that is %s is %s', (phase, expected) => {
    const before: ScheduledUpdateStatus = { ...done, phase: 'Scheduled' }
    expect(decideScheduled(scheduled(before), update(phase), time('23:00:00'))).toMatchObject({
      status: { phase: expected },
    })
  })

  it('whose update was deleted is cancelled, or stays what it became', () => {
    expect(decideScheduled(scheduled(done), undefined, time('23:00:00'))).toMatchObject({
      status: { phase: 'Cancelled' },
    })
    expect(decideScheduled(scheduled({ ...done, phase: 'Completed' }), undefined, time('23:00:00'))).toEqual({
      action: 'wait',
    })
  })

  it('that was made stays what it is and is followed, though its time cannot be read any more', () => {
    const wrong = (status: ScheduledUpdateStatus) => scheduled(status, '2026-02-30T02:00:00Z')
    const completed = { ...done, phase: 'Completed' as const }
    expect(decideScheduled(wrong(completed), undefined, time('23:00:00'))).toEqual({ action: 'wait' })
    expect(decideScheduled(wrong(done), update('Succeeded'), time('23:00:00'))).toEqual({
      action: 'record',
      status: completed,
    })
    expect(decideScheduled(scheduled(completed), undefined, time('23:00:00'))).toEqual({ action: 'wait' })
    expect(decideScheduled(wrong({}), undefined, time('23:00:00'))).toMatchObject({
      reason: { code: 'ScheduleInvalid' },
    })
  })

  it('reads its time with an offset or in a zone, and knows the calendar', () => {
    expect(instantOf({ at: '2026-07-01T02:00:00', timeZone: 'Europe/Berlin', template })).toEqual({
      value: Date.parse('2026-07-01T00:00:00Z'),
    })
    expect(instantOf({ at: '2026-03-29T02:30:00', timeZone: 'Europe/Berlin', template })).toEqual({
      value: Date.parse('2026-03-29T01:00:00Z'),
    })
    expect(instantOf({ at: '2026-02-30T02:00:00Z', template })).toMatchObject({
      problem: expect.stringContaining('no time of the calendar'),
    })
    expect(instantOf({ at: '2026-01-05T25:00:00Z', template })).toHaveProperty('problem')
  })

  it('keeps names within what names may be', () => {
    expect(nameFor('x'.repeat(253), '12345678').length).toBeLessThanOrEqual(253)
    expect(nameFor('a.b-', '1')).toBe('a.b-1')
  })

  it('keeps labels within what labels may be, wherever a name is cut', () => {
    for (const [name, label] of [
      ['night', 'night'],
      [`${'x'.repeat(62)}-night`, 'x'.repeat(62)],
      [`${'x'.repeat(60)}.-.night`, 'x'.repeat(60)],
      ['x'.repeat(253), 'x'.repeat(63)],
    ] as const) {
      expect(labelFor(name)).toBe(label)
    }
  })
})
