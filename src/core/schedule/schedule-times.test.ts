import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { UpdateSchedule, UpdateScheduleStatus } from '../../api/schedule.ts'
import { nextTime, timesOf } from './schedule-times.ts'
import { decideSchedule } from './update-schedule.ts'

const hour = 3_600_000
const created = '2026-01-01T00:30:00.000Z'
const schedule = (status?: UpdateScheduleStatus): UpdateSchedule => ({
  metadata: { name: 'patches', uid: 'u1', resourceVersion: '1', creationTimestamp: created },
  spec: { cron: '@every 7h', template: { spec: { reboot: 'Always' } } },
  ...(status && { status }),
})

describe('@every', () => {
  it.each([
    ['@every 7h', 7 * hour],
    ['@EVERY  1h30m10s', 5_410_000],
    ['@every 60s', 60_000],
  ])('%s is read', (cron, everyMs) => {
    expect(timesOf({ cron })).toEqual({ everyMs })
  })

  it.each(['@every', '@every 0h', '@every 59s', '@every 7', '@every 7h or so', '@every 1.5h', '@everyday'])(
    '%s is refused',
    (cron) => {
      expect(timesOf({ cron })).toEqual({ problem: expect.stringContaining(`cron "${cron}"`) })
    },
  )

  it('comes a whole number of lengths after the last, and none is left out', () => {
    const lengths = fc.integer({ min: 60_000, max: 1_000 * hour })
    fc.assert(
      fc.property(lengths, fc.nat(), fc.nat(2 ** 40), (everyMs, lastMs, laterMs) => {
        const afterMs = lastMs + laterMs
        const next = nextTime({ everyMs }, afterMs, lastMs) ?? Number.NaN
        expect((next - lastMs) % everyMs).toBe(0)
        expect(next).toBeGreaterThan(afterMs)
        expect(next - everyMs).toBeLessThanOrEqual(afterMs)
      }),
    )
  })

  it('begins when the schedule is made, and goes on from the last run however late that was made', () => {
    const before = decideSchedule(schedule(), [], new Set(), new Date('2026-01-01T07:29:00.000Z'))
    expect(before).toMatchObject({ status: { nextScheduled: '2026-01-01T07:30:00.000Z' } })
    const now = new Date('2026-01-01T08:10:00.000Z')
    const due = decideSchedule(schedule(), [], new Set(), now)
    const name = `patches-${Date.parse('2026-01-01T07:30:00.000Z') / 60_000}`
    expect(due).toMatchObject({ action: 'make', name })
    const { metadata, spec } = schedule()
    const made = { metadata: { ...metadata, name }, spec: spec.template.spec }
    expect(decideSchedule(schedule(), [made], new Set(), now)).toMatchObject({
      status: { lastScheduled: '2026-01-01T07:30:00.000Z', nextScheduled: '2026-01-01T14:30:00.000Z' },
    })
  })

  it('begins anew where it was changed, also after a run', () => {
    const changed = schedule({
      ...{ since: created, times: '@every 9h UTC', lastScheduled: '2026-01-01T09:30:00.000Z', active: 0 },
    })
    expect(decideSchedule(changed, [], new Set(), new Date('2026-01-02T00:00:00.000Z'))).toMatchObject({
      status: { since: '2026-01-02T00:00:00.000Z', nextScheduled: '2026-01-02T07:00:00.000Z' },
    })
  })
})
