import { readFileSync } from 'node:fs'
import { SystemClock } from '../../../src/adapters/clock/system-clock.ts'
import { WebDownload } from '../../../src/adapters/download/web-download.ts'
import { JobRecord } from '../../../src/agent/drivers/jobs/job-record.ts'
import { jobsDriver } from '../../../src/agent/drivers/jobs/jobs.ts'
import type { JobWork } from '../../../src/api/work.ts'
import { type ConformanceCase, contentOf } from '../conformance-case.ts'
import { stateDir } from '../life-plan.ts'

const example = (name: string) =>
  readFileSync(new URL(`../../../examples/maintenance-jobs/${name}.sh`, import.meta.url), 'utf8')

const script = `#!/bin/sh
mkdir -p /srv/work
echo begin >>/srv/work/log
sleep 1
echo done >/srv/work/new
sync /srv/work/new
mv /srv/work/new /srv/work/mark
`
const validation = example('systemd-validation')
const mark = example('mark-for-reboot')

const job = (name: string, text: string): JobWork => ({ name, script: contentOf(text), sha256: contentOf(text).sha256 })

export const conformanceCase: ConformanceCase = {
  name: 'jobs',
  driver: jobsDriver({
    clock: new SystemClock(),
    download: new WebDownload(),
    record: new JobRecord(stateDir),
  }),
  contents: [script, validation, mark],
  setUp: (bed) => bed.machine(),
  order: () =>
    Promise.resolve({
      work: { jobs: [{ ...job('work', script), validate: contentOf(validation) }, job('mark-for-reboot', mark)] },
    }),
  isDone: async (machine) => {
    const [marked, record] = await Promise.all([
      machine.exec(['cat', '/srv/work/mark']),
      machine.exec(['cat', `${stateDir}/jobs.json`]),
    ])
    return marked.stdout === 'done\n' && record.stdout.includes('"mark-for-reboot"')
  },
}
