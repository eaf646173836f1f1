import { scriptDriver } from '../../../src/agent/drivers/script.ts'
import { type ConformanceCase, contentOf } from '../conformance-case.ts'

const script = `#!/bin/sh
mkdir -p /srv/work
echo begin >>/srv/work/log
sleep 1
echo done >/srv/work/new
sync /srv/work/new
mv /srv/work/new /srv/work/mark
`
const validation = 'grep -qx done /srv/work/mark\n'

export const conformanceCase: ConformanceCase = {
  name: 'script',
  driver: scriptDriver,
  contents: [script, validation],
  runsAgain: 'what a script does cannot be looked at, so a new order runs it',
  setUp: (bed) => bed.machine(),
  order: () => Promise.resolve({ work: { script: { ...contentOf(script), validate: contentOf(validation) } } }),
  isDone: async (machine) => (await machine.exec(['cat', '/srv/work/mark'])).stdout === 'done\n',
}
