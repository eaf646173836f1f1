import type { UpdateSchedule } from '../src/api/schedule.ts'
import { decideSchedule } from '../src/core/schedule/update-schedule.ts'
import { type Bench, median } from './figure.ts'

const count = 10_000
const rounds = 5
const now = new Date('2026-03-28T20:15:00Z')
const zones = Intl.supportedValuesOf('timeZone')

/** One pass over all of them, each with its own time and one of all zones, the day before clocks are set; the operator has one timer for all. */
export const schedules: Bench = {
  name: 'schedules',
  alone: true,
  measure: () => {
    const all = inventedSchedules()
    let known = 0
    const tookMs = Array.from({ length: rounds }, () => {
      const started = process.threadCpuUsage()
      known = 0
      for (const schedule of all) {
        const decision = decideSchedule(schedule, [], new Set(), now)
        if (decision.action === 'record' && decision.status.nextScheduled !== undefined) known++
      }
      const { user, system } = process.threadCpuUsage(started)
      return (user + system) / 1000
    })
    if (known !== count) throw new Error(`the next run of ${count - known} schedules is not known`)
    const what = `next run of each of ${count} schedules in ${zones.length} zones, first pass of the process`
    return Promise.resolve({
      figures: [{ what, measured: (tookMs[0] ?? Number.NaN) / 1000, wanted: { atMost: 1 }, unit: 's' }],
      seen: { laterSeconds: median(tookMs.slice(1)) / 1000 },
    })
  },
}

function inventedSchedules(): readonly UpdateSchedule[] {
  return Array.from({ length: count }, (_, index) => ({
    metadata: {
      name: `nightly-${index}`,
      uid: `uid-${index}`,
      resourceVersion: '1',
      creationTimestamp: now.toISOString(),
    },
    spec: {
      cron: `${index % 60} ${index % 24} * * ${index % 7}`,
      timeZone: zones[index % zones.length] ?? 'UTC',
      template: { spec: { reboot: 'IfRequired' as const } },
    },
  }))
}
