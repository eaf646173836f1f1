import type { ConformanceCase } from '../conformance-case.ts'
import { profileCase } from '../profile-case.ts'

const keys = { 'net.ipv4.ip_default_ttl': '70', 'net.ipv4.tcp_rmem': '4096 87380 6291456' } as const
const file = '/etc/sysctl.d/90-slipway-base.conf'

export const conformanceCase: ConformanceCase = profileCase(
  'sysctls',
  { sysctls: keys },
  {
    tool: { name: 'sysctl', version: ['sysctl', '--version'] },
    setUp: (bed) => bed.machine(),
    isDone: async (machine) => {
      const { stdout } = await machine.exec(['sysctl', '-n', ...Object.keys(keys)])
      const kept = (await machine.exec(['test', '-e', file])).code === 0
      return kept && stdout.replaceAll('\t', ' ') === `${Object.values(keys).join('\n')}\n`
    },
  },
)
