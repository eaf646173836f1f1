import { tool } from '../../e2e/package-machine.ts'
import type { ConformanceCase } from '../conformance-case.ts'
import { profileCase } from '../profile-case.ts'

let machines = 0

export const conformanceCase: ConformanceCase = profileCase(
  'packages',
  {
    packages: [
      { name: 'added', version: '1.0' },
      { name: 'raised', version: '2.0' },
      { name: 'taken', state: 'Absent' },
    ],
  },
  {
    tool: { name: 'apt-get', version: ['apt-get', '--version'] },
    setUp: async (bed) => {
      const machine = await bed.machine()
      const packages = [tool('added', '1.0'), tool('raised', '1.0'), tool('raised', '2.0'), tool('taken', '1.0')]
      await bed.trust(machine, 'tools', await bed.publish(`profile-packages-${++machines}`, packages))
      await machine.run(['apt-get', 'update', '-qq'])
      await machine.run(['apt-get', '-y', '-qq', 'install', 'raised=1.0', 'taken=1.0'])
      return machine
    },
    isDone: async (machine) => {
      const { stdout } = await machine.exec(['dpkg-query', '-Wf', `\${Package} \${Version} \${db:Status-Abbrev}\n`])
      const has = (line: string) => stdout.split('\n').some((found) => found.startsWith(line))
      return has('added 1.0 ii') && has('raised 2.0 ii') && !has('taken 1.0 ii')
    },
    check: async (machine) => {
      const audit = await machine.run(['dpkg', '--audit'])
      if (audit !== '') throw new Error(`dpkg --audit says ${audit}`)
    },
  },
)
