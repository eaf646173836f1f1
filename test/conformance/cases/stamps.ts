import { stampsDriver } from '../../../src/agent/drivers/stamps/stamps.ts'
import type { ConformanceCase } from '../conformance-case.ts'

const stamps = ['/var/nkd/os/22.03.stamp', '/var/nkd/kube/v1.36.3.stamp']

export const conformanceCase: ConformanceCase = {
  name: 'stamps',
  driver: stampsDriver,
  setUp: (bed) => bed.machine(),
  order: () => Promise.resolve({ work: { stamps } }),
  isDone: async (machine) => {
    const looks = await Promise.all(stamps.map((path) => machine.exec(['test', '-f', path])))
    return looks.every(({ code }) => code === 0)
  },
}
