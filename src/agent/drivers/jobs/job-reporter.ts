import { Bell } from '../../bell.ts'
import type { SideTask } from '../../side-task.ts'
import type { JobRecord } from './job-record.ts'

/** Tells the operator which jobs this host has done, so that it asks for none of them again. */
export function jobReporter(record: JobRecord): SideTask {
  return {
    name: 'jobs',
    run: async ({ host, publisher }, signal) => {
      const bell = new Bell()
      const unsubscribe = record.subscribe(() => bell.ring())
      try {
        for (;;) {
          const jobs = await record.read(host.disk)
          publisher.publish({ jobs: jobs.length > 0 ? [...jobs] : undefined })
          await bell.heard(signal)
        }
      } finally {
        unsubscribe()
      }
    },
  }
}
