import type { ConformanceCase } from '../conformance-case.ts'
import { profileCase } from '../profile-case.ts'

const unit = (name: string) => `/usr/lib/systemd/system/${name}.service`
const text = '[Service]\nExecStart=/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n'

/** One unit that is to run with a drop-in, and one that is not to run. */
export const conformanceCase: ConformanceCase = profileCase(
  'units',
  {
    units: [
      {
        name: 'wanted.service',
        enabled: true,
        state: 'Running',
        dropIns: [{ name: 'nice.conf', content: '[Service]\nNice=5\n' }],
      },
      { name: 'unwanted.service', enabled: false, state: 'Stopped' },
    ],
  },
  {
    tool: { name: 'systemctl', version: ['systemctl', '--version'] },
    setUp: async (bed) => {
      const machine = await bed.machine()
      for (const name of ['wanted', 'unwanted']) await machine.writeFile(unit(name), text)
      await machine.run(['systemctl', 'daemon-reload'])
      await machine.run(['systemctl', 'enable', '--now', 'unwanted.service'])
      return machine
    },
    isDone: async (machine) => {
      const show = async (name: string, properties: string) => {
        const said = await machine.run(['systemctl', 'show', `--property=${properties}`, name])
        return said.trim().split('\n').sort().join(' ')
      }
      return (
        (await show('wanted.service', 'ActiveState,UnitFileState,Nice')) ===
          'ActiveState=active Nice=5 UnitFileState=enabled' &&
        // Its niceness would be that of whoever started the machine.
        (await show('unwanted.service', 'ActiveState,UnitFileState')) === 'ActiveState=inactive UnitFileState=disabled'
      )
    },
  },
)
