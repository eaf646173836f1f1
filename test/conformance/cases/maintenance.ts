import { SystemClock } from '../../../src/adapters/clock/system-clock.ts'
import { SystemRandom } from '../../../src/adapters/random/system-random.ts'
import { maintenanceDriver } from '../../../src/agent/drivers/maintenance/maintenance.ts'
import type { ConformanceCase } from '../conformance-case.ts'

const required = '/var/maintenance-required'
const inProgress = '/var/maintenance-in-progress'

/** As the contract asks: nothing before it is let in, safe to run again, and the request goes only when all went well. */
const script = `#!/bin/sh
set -eu
[ -e ${required} ] || exit 0
until [ -e ${inProgress} ]; do sleep 0.1; done
sleep 1
echo done >/srv/maintained
sync /srv/maintained
rm -f ${required}
sync /var
`

const unit = `[Service]
Type=exec
ExecStart=/usr/local/sbin/maintain

[Install]
WantedBy=multi-user.target
`

export const conformanceCase: ConformanceCase = {
  name: 'maintenance',
  driver: maintenanceDriver({ clock: new SystemClock(), random: new SystemRandom() }),
  setUp: async (bed) => {
    const machine = await bed.machine()
    await machine.writeFile('/usr/local/sbin/maintain', script, 0o755)
    await machine.writeFile('/etc/systemd/system/maintain.service', unit)
    await machine.writeFile(required, '')
    await machine.run(['sync'])
    await machine.run(['systemctl', 'enable', '--now', 'maintain.service'])
    return machine
  },
  order: () => Promise.resolve({ work: { maintenance: { required, inProgress } } }),
  isDone: async (machine) => {
    const left = await Promise.all([required, inProgress].map((path) => machine.exec(['test', '-e', path])))
    const worked = await machine.exec(['cat', '/srv/maintained'])
    return worked.stdout === 'done\n' && left.every(({ code }) => code !== 0)
  },
}
