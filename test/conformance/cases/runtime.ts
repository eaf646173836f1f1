import { runtimeDriver } from '../../../src/agent/drivers/runtime/runtime-driver.ts'
import { nodeTemplate, trustPackages } from '../../bed/node-template.ts'
import { containerdVersion, kubernetesVersion, olderKubernetesVersion } from '../../bed/versions.ts'
import type { ConformanceCase } from '../conformance-case.ts'

export const conformanceCase: ConformanceCase = {
  name: 'runtime (containerd)',
  tool: { name: 'containerd', version: ['containerd', '--version'] },
  driver: runtimeDriver,
  setUp: async (bed) => {
    const machine = await bed.machine(await nodeTemplate(bed, olderKubernetesVersion))
    await trustPackages(bed, machine, olderKubernetesVersion)
    // No node yet: its kubelet would restart for ever.
    await machine.run(['systemctl', 'disable', '--now', 'kubelet'])
    return machine
  },
  order: () => Promise.resolve({ work: { kubernetes: { version: kubernetesVersion, components: ['containerd'] } } }),
  isDone: async (machine) => {
    const { stdout } = await machine.exec(['ctr', 'version'])
    return stdout.split('Server:')[1]?.includes(containerdVersion) ?? false
  },
}
