import { describe, expect, it } from 'vitest'
import { kubernetesOrder } from '../../../test/agent/agent-bench.ts'
import { StepBench } from '../../../test/agent/step-bench.ts'
import { fixedRandom } from '../../../test/fakes/fixed-random.ts'
import { ManualClock } from '../../../test/fakes/manual-clock.ts'
import { WebDownload } from '../../adapters/download/web-download.ts'
import { keyPairSignatures } from '../../adapters/oci/key-pair-signatures.ts'
import { nodeRequests } from '../../adapters/secure-requests/node-requests.ts'
import type { Order } from '../../api/node-state.ts'
import { type Component, components } from '../../api/work.ts'
import type { StepRecord } from '../journal/order-folder.ts'
import { stepNamesOf } from '../order-steps.ts'
import { planUndo } from '../undo-plan.ts'
import { allDrivers } from './all-drivers.ts'
import { JobRecord } from './jobs/job-record.ts'
import { kubectlDriver } from './kubectl/kubectl-driver.ts'
import { kubeletDriver } from './kubelet/kubelet-driver.ts'
import { switchesNote } from './repository-switch.ts'

const drivers = allDrivers({
  ...{ clock: new ManualClock(), random: fixedRandom(), download: new WebDownload({ proxyEnv: {} }) },
  ...{ signatures: keyPairSignatures, jobRecord: new JobRecord('/var/lib/slipway'), requests: nodeRequests },
  stateDir: '/var/lib/slipway',
})
const orderOf = (chosen: readonly Component[], more: Partial<Order['work']> = {}): Order =>
  kubernetesOrder({
    work: { kubernetes: { version: 'v1.36.3', components: [...chosen] }, ...more },
    rollback: 'All',
  })
const packaged: readonly Component[] = ['kubeadm', 'kubelet', 'kubectl']
const combinations = Array.from({ length: 2 ** components.length - 1 }, (_, mask) =>
  components.filter((_component, bit) => ((mask + 1) >> bit) % 2 === 1),
)

describe('the switch of the repository', () => {
  it.each(combinations.map((chosen) => ({ chosen, named: chosen.join(', ') })))(
    'comes once, before the first package of its own, with $named',
    ({ chosen }) => {
      const { steps } = stepNamesOf(orderOf(chosen), drivers)
      const installs = packaged.filter((one) => chosen.includes(one)).map((one) => steps.indexOf(`install-${one}`))
      expect(installs).not.toContain(-1)
      const switches = steps.flatMap((name, index) => (name === 'switch-repository' ? [index] : []))
      expect(switches).toHaveLength(installs.length > 0 ? 1 : 0)
      for (const install of installs) expect(switches[0]).toBeLessThan(install)
      expect(new Set(steps).size).toBe(steps.length)
    },
  )

  it('does not come where an image brings the packages', () => {
    const { steps } = stepNamesOf(orderOf(packaged, { os: { image: 'registry/os:2' } }), drivers)
    expect(steps).not.toContain('switch-repository')
  })
})

describe('the way back', () => {
  const path = '/etc/apt/sources.list.d/kubernetes.list'
  const listOf = (minor: string) => `deb https://pkgs.k8s.io/core:/stable:/${minor}/deb/ /\n`
  const [before, after] = [listOf('v1.35'), listOf('v1.36')]
  const kubelet = { driver: kubeletDriver, chosen: ['kubelet'] as const, fetch: 'fetch-old-kubelet' }
  const both = { driver: kubectlDriver, chosen: ['kubelet', 'kubectl'] as const, fetch: 'fetch-old-kubectl' }

  async function switched({ chosen }: { chosen: readonly Component[] }, now: string) {
    const bench = new StepBench(orderOf(chosen))
    await bench.put(path, now)
    await bench.context.notes.write(switchesNote, { switches: [{ path, before, after }] })
    return bench
  }
  const stepOf = (name: string, { driver, chosen }: typeof kubelet | typeof both) => {
    const order = orderOf(chosen)
    const steps = [...driver.steps(order), ...(driver.undo.possible ? driver.undo.steps(order) : [])]
    const step = steps.find((one) => one.name === name)
    if (!step || !('act' in step)) throw new Error(`no step ${name}`)
    return step
  }

  it.each([kubelet, both])('puts the repository back with $fetch', async (one) => {
    const bench = await switched(one, before)
    const { context, signal } = bench
    await stepOf('switch-repository', one).act(context, signal)
    expect(await bench.host.files.read(path)).toBe(after)
    const back = stepOf(one.fetch, one)
    expect(await back.holds?.(context, signal)).toBe(false)
    await back.act(context, signal)
    expect(await bench.host.files.read(path)).toBe(before)
    expect(await back.holds?.(context, signal)).toBe(true)
  })

  it('leaves what somebody else has written since', async () => {
    const bench = await switched(kubelet, listOf('v1.37'))
    const back = stepOf(kubelet.fetch, kubelet)
    expect(await back.holds?.(bench.context, bench.signal)).toBe(true)
    await back.act(bench.context, bench.signal)
    expect(await bench.host.files.read(path)).toBe(listOf('v1.37'))
  })

  it('leaves it switched where kubeadm did that, for which there is no way back', async () => {
    const bench = await switched({ chosen: packaged }, after)
    const order = orderOf(packaged)
    const steps = kubeletDriver.undo.possible ? kubeletDriver.undo.steps(order) : []
    const back = steps.find(({ name }) => name === kubelet.fetch)
    expect(await back?.holds?.(bench.context, bench.signal)).toBe(true)
  })

  it('is still there for an order begun by an agent that switched nothing', () => {
    const order = orderOf(['kubelet'])
    const steps = ['drop-removed-flags', 'install-kubelet', 'restart-kubelet']
    const undo = ['fetch-old-kubelet', 'install-old-kubelet', 'restore-kubelet-flags', 'restart-old-kubelet']
    const done = { done: { starts: 1 } } as StepRecord
    const record = { accepted: { steps, undo }, steps: [done, done, done] }
    expect(planUndo(order, drivers, record)).toEqual({ steps: undo, isWhole: true })
  })
})
