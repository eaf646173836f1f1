import { kubectlDriver } from '../../../src/agent/drivers/kubectl/kubectl-driver.ts'
import { nodeTemplate, trustPackages } from '../../bed/node-template.ts'
import { kubernetesVersion, olderKubernetesVersion } from '../../bed/versions.ts'
import type { ConformanceCase } from '../conformance-case.ts'

export const conformanceCase: ConformanceCase = {
  name: 'kubectl',
  tool: { name: 'kubectl', version: ['kubectl', 'version', '--client'] },
  driver: kubectlDriver,
  setUp: async (bed) => {
    const machine = await bed.machine(await nodeTemplate(bed, olderKubernetesVersion))
    await trustPackages(bed, machine, olderKubernetesVersion)
    return machine
  },
  order: () => Promise.resolve({ work: { kubernetes: { version: kubernetesVersion, components: ['kubectl'] } } }),
  isDone: async (machine) =>
    (await machine.exec(['kubectl', 'version', '--client'])).stdout.includes(kubernetesVersion),
}
