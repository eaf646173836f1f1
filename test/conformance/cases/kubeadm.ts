import type { Driver, Step, StepContext } from '../../../src/agent/drivers/driver.ts'
import { kubeadmDriver } from '../../../src/agent/drivers/kubeadm/kubeadm-driver.ts'
import { upgradeRecordFile } from '../../../src/agent/drivers/kubeadm/upgrade-record.ts'
import { checkImageProgramsStep } from '../../../src/agent/drivers/osimage/image-programs.ts'
import { openBed } from '../../bed/bed.ts'
import { raiseCluster } from '../../bed/kubeadm-cluster.ts'
import { ignoredChecks } from '../../bed/kubeadm-config.ts'
import { kubernetesVersion } from '../../bed/versions.ts'
import type { ConformanceCase } from '../conformance-case.ts'
import { stateDir } from '../life-plan.ts'

const kubectl = ['kubectl', '--kubeconfig=/etc/kubernetes/admin.conf']

/** A single control plane, the hardest one: the API is away for most of the work. */
export const conformanceCase: ConformanceCase = {
  name: 'kubeadm (control plane)',
  tool: { name: 'kubeadm', version: ['kubeadm', 'version', '--output=short'] },
  driver: onNode(
    kubeadmDriver({ stagedTree: () => Promise.resolve(undefined), checkImage: checkImageProgramsStep, stateDir }),
    'node1',
  ),
  seeds: [1],
  setUp: async (bed) => {
    const inner = await openBed()
    bed.atClose(() => inner.close())
    const { nodes } = await raiseCluster(inner, { controlPlanes: 1, workers: 0 })
    const [machine] = nodes
    if (!machine) throw new Error('a cluster of one has one node')
    // As the operator does before it lets an order run.
    await machine.run([...kubectl, 'cordon', 'node1'])
    return machine
  },
  order: () =>
    Promise.resolve({
      role: 'ControlPlane',
      work: {
        kubernetes: {
          version: kubernetesVersion,
          components: ['kubeadm'],
          kubeadm: { ignorePreflightErrors: ignoredChecks.split(',') },
        },
      },
    }),
  isDone: async (machine) => {
    const { stdout } = await machine.exec([...kubectl, 'get', '--raw', '/version'])
    const record = await machine.exec([
      ...kubectl,
      '-n',
      'kube-system',
      'get',
      'configmap',
      'kubeadm-config',
      '-o',
      'yaml',
    ])
    return stdout.includes(`"gitVersion": "${kubernetesVersion}"`) && record.stdout.includes(kubernetesVersion)
  },
  // Cordoned, and the only node of its cluster: kubeadm's test pod could run nowhere, and the report says what was done about it.
  check: async (machine, { steps, warnings = [] }) => {
    const wasUpgraded = steps.some(({ name, attempts }) => name === 'upgrade-control-plane' && attempts > 0)
    const wasSaid = warnings.some((warning) => warning.includes('CreateJob was ignored'))
    if (wasUpgraded !== wasSaid)
      throw new Error(`${wasUpgraded ? '' : 'not '}upgraded, with warnings ${JSON.stringify(warnings)}`)
    const left = await machine.exec(['cat', `${stateDir}/${upgradeRecordFile}`])
    if (left.code === 0) throw new Error(`an upgrade that ended well is still on record: ${left.stdout}`)
  },
}

/** The suite's node has another name than the cluster's. */
function onNode({ steps, ...driver }: Driver, nodeName: string): Driver {
  const there = <C extends StepContext>(context: C): C => ({ ...context, nodeName })
  const renamed = (step: Step): Step => {
    const { holds, missing } = step
    const looks = {
      ...(holds && { holds: (context: StepContext, signal: AbortSignal) => holds(there(context), signal) }),
      ...(missing && { missing: (context: StepContext, signal: AbortSignal) => missing(there(context), signal) }),
    }
    return { ...step, ...looks }
  }
  return { ...driver, steps: (order) => steps(order).map(renamed) }
}
