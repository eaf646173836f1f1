import { rebootDriver } from '../../../src/agent/drivers/reboot/reboot.ts'
import type { ConformanceCase } from '../conformance-case.ts'

/** /run is new after a boot. */
const asksForReboot = '/run/reboot-required'

export const conformanceCase: ConformanceCase = {
  name: 'reboot',
  tool: { name: 'systemctl', version: ['systemctl', '--version'] },
  driver: rebootDriver,
  setUp: async (bed) => {
    const machine = await bed.machine()
    await machine.writeFile(asksForReboot, '')
    await machine.writeFile('/etc/systemd/system/count-shutdowns.service', countShutdowns)
    await machine.run(['systemctl', 'enable', '--now', 'count-shutdowns.service'])
    return machine
  },
  order: () => Promise.resolve({ work: { reboot: 'IfRequired' } }),
  isDone: async (machine) => (await machine.exec(['test', '-e', asksForReboot])).code === 1,
  check: async (machine) => {
    const { stdout } = await machine.exec(['cat', '/var/lib/shutdowns'])
    const count = stdout.split('\n').length - 1
    if (count > 1) throw new Error(`the machine was told to reboot ${count} times`)
  },
}

/** A power loss stops nothing in good order, so it does not count. */
const countShutdowns = `[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/true
ExecStop=/bin/sh -c 'echo down >>/var/lib/shutdowns'
[Install]
WantedBy=multi-user.target
`
