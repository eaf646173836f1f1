import { packagesDriver } from '../../../src/agent/drivers/packages/packages-driver.ts'
import type { Machine } from '../../bed/machine.ts'
import { tool } from '../../e2e/package-machine.ts'
import type { ConformanceCase } from '../conformance-case.ts'

/** Slow scripts, so that there is a middle to be cut off in. */
const slow = (name: string, version: string, control: Readonly<Record<string, string>> = {}) =>
  tool(name, version, { control, scripts: { preinst: '#!/bin/sh\nsleep 0.3\n', postinst: '#!/bin/sh\nsleep 0.3\n' } })

let machines = 0

const installed = (machine: Machine, name: string) => machine.run(['dpkg-query', '-Wf', `\${Version} \${Status}`, name])

export const conformanceCase: ConformanceCase = {
  name: 'packages (apt)',
  tool: { name: 'apt-get', version: ['apt-get', '--version'] },
  driver: packagesDriver,
  setUp: async (bed) => {
    const machine = await bed.machine()
    const repository = `packages-${++machines}`
    const before = [slow('one', '1.0'), slow('two', '1.0'), slow('held', '1.0'), slow('kubelet', '1.0')]
    await bed.trust(machine, 'debian', await bed.publish(repository, before))
    await machine.run(['apt-get', 'update'])
    await machine.run(['apt-get', '-y', 'install', ...before.map(({ name }) => name)])
    await machine.run(['apt-mark', 'hold', 'held'])
    const after = [slow('one', '2.0', { Depends: 'three' }), slow('two', '2.0'), slow('three', '1.0')]
    await bed.publish(repository, [...after, slow('held', '2.0'), slow('kubelet', '2.0')])
    return machine
  },
  order: () => Promise.resolve({ work: { os: { packages: 'All' } } }),
  isDone: async (machine) =>
    (await installed(machine, 'one')) === '2.0 install ok installed' &&
    (await installed(machine, 'two')) === '2.0 install ok installed',
  check: async (machine) => {
    const audit = await machine.run(['dpkg', '--audit'])
    if (audit !== '') throw new Error(`dpkg --audit says ${audit}`)
    for (const [name, wanted] of [
      ['held', '1.0 hold ok installed'],
      ['kubelet', '1.0 install ok installed'],
      ['three', '1.0 install ok installed'],
    ] as const) {
      const found = await installed(machine, name)
      if (found !== wanted) throw new Error(`${name} is "${found}", not "${wanted}"`)
    }
  },
}
