import { describe, expect, it } from 'vitest'
import { nodes, type Pod, type PodSpec, pods } from '../../api/kube.ts'
import { SimCluster } from '../sim-cluster.ts'

const hostname = 'kubernetes.io/hostname'
const zone = 'topology.kubernetes.io/zone'

interface GivenNode {
  readonly name: string
  readonly zone?: string
  readonly cpu?: string
  readonly labels?: Readonly<Record<string, string>>
}

/** Only a scheduler: nodes that are Ready for ever, and pods nobody starts. */
class Bench {
  readonly cluster: SimCluster

  constructor(given: readonly GivenNode[], seed = 1) {
    this.cluster = new SimCluster({ seed, nodes: [], which: ['scheduler'] })
    for (const { name, zone: where, cpu = '4', labels } of given) {
      const place = where === undefined ? {} : { [zone]: where }
      this.cluster.server.create('test', nodes, {
        metadata: { name, labels: { [hostname]: name, ...place, ...labels } },
        spec: {},
        status: { conditions: [{ type: 'Ready', status: 'True' }], allocatable: { cpu, memory: '8Gi', pods: '10' } },
      })
    }
    this.cluster.start()
  }

  async place(name: string, spec: Partial<PodSpec>, labels: Readonly<Record<string, string>> = {}): Promise<Pod> {
    const metadata = { name, namespace: 'default', labels }
    const containers = [{ name: 'main', image: 'pretend' }]
    this.cluster.server.create('test', pods, { metadata, spec: { containers, ...spec } })
    await this.cluster.run({ limitMs: 5000 })
    return this.pod(name)
  }

  pod(name: string): Pod {
    return this.cluster.server.peek(pods, { name, namespace: 'default' }) as Pod
  }
}

const asking = (cpu: string) => ({
  containers: [{ name: 'main', image: 'pretend', resources: { requests: { cpu } } }],
})
const nodeAffinity = (key: string, operator: 'In' | 'Gt' | 'DoesNotExist', ...values: readonly string[]) => ({
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key, operator, values }] }],
      },
    },
  },
})
const apart = {
  affinity: {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { topologyKey: hostname, labelSelector: { matchLabels: { app: 'web' } } },
      ],
    },
  },
}

describe('the scheduler of the simulator', () => {
  it.each([
    {
      name: 'a label that no node has',
      spec: { nodeSelector: { disk: 'fast' } },
      why: "2 didn't match Pod's node aff",
    },
    {
      name: 'an affinity no node meets',
      spec: nodeAffinity(zone, 'In', 'c'),
      why: "2 didn't match Pod's node affinity",
    },
    { name: 'more than any node has', spec: asking('5'), why: '2 had too little cpu' },
    {
      name: 'a device no node names',
      spec: { containers: [{ name: 'm', image: 'i', resources: { requests: { 'example.com/gpu': 1 } } }] },
      why: '2 had too little example.com/gpu',
    },
  ])('puts a pod that asks for $name nowhere, and says why', async ({ spec, why }) => {
    const bench = new Bench([
      { name: 'a', zone: 'a' },
      { name: 'b', zone: 'b' },
    ])
    const { spec: bound, status } = await bench.place('one', spec)
    expect(bound.nodeName).toBeUndefined()
    expect(status?.conditions?.[0]).toMatchObject({ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' })
    expect(status?.conditions?.[0]?.message).toContain(`0/2 nodes are available: ${why}`)
  })

  it.each([
    { name: 'a zone it names', spec: nodeAffinity(zone, 'In', 'b') },
    { name: 'a number above', spec: nodeAffinity('generation', 'Gt', '3') },
    { name: 'the lack of a label', spec: nodeAffinity('old', 'DoesNotExist') },
  ])('obeys $name', async ({ spec }) => {
    const bench = new Bench([
      { name: 'a', zone: 'a', labels: { generation: '3', old: '' } },
      { name: 'b', zone: 'b', labels: { generation: '4' } },
    ])
    expect((await bench.place('one', spec)).spec.nodeName).toBe('b')
  })

  it('fills nodes by what pods ask for, and uses the room that one leaves', async () => {
    const bench = new Bench([{ name: 'a' }, { name: 'b' }])
    await bench.place('one', asking('3'))
    await bench.place('two', asking('3'))
    const third = await bench.place('three', asking('1500m'))
    expect(third.spec.nodeName).toBeUndefined()
    const room = bench.pod('one').spec.nodeName
    bench.cluster.server.delete('test', pods, { name: 'one', namespace: 'default' }, { gracePeriodSeconds: 0 })
    await bench.cluster.run({ limitMs: 5000 })
    expect(bench.pod('three').spec.nodeName).toBe(room)
  })

  it('leaves it to chance which of those that found no room gets it', async () => {
    const winners = new Set<string>()
    for (let seed = 1; seed <= 20; seed++) {
      const bench = new Bench([{ name: 'a' }], seed)
      for (const name of ['first', 'one', 'two']) await bench.place(name, asking('3'))
      bench.cluster.server.delete('test', pods, { name: 'first', namespace: 'default' }, { gracePeriodSeconds: 0 })
      await bench.cluster.run({ limitMs: 5000 })
      const placed = ['one', 'two'].filter((name) => bench.pod(name).spec.nodeName === 'a')
      expect(placed).toHaveLength(1)
      winners.add(placed.join())
    }
    expect([...winners].toSorted()).toEqual(['one', 'two'])
  })

  it('keeps pods apart that must be, and has no place for one too many', async () => {
    const bench = new Bench([{ name: 'a' }, { name: 'b' }])
    const places = []
    for (const name of ['one', 'two', 'three'])
      places.push((await bench.place(name, apart, { app: 'web' })).spec.nodeName)
    expect(places.toSorted()).toEqual(['a', 'b', undefined])
    expect(bench.pod('three').status?.conditions?.[0]?.message).toContain('anti-affinity')
  })

  it('spreads over zones as far as it must', async () => {
    const bench = new Bench([
      { name: 'a1', zone: 'a' },
      { name: 'a2', zone: 'a' },
      { name: 'b1', zone: 'b', cpu: '1' },
    ])
    const spread = {
      topologySpreadConstraints: [
        {
          maxSkew: 1,
          topologyKey: zone,
          whenUnsatisfiable: 'DoNotSchedule' as const,
          labelSelector: { matchLabels: { app: 'web' } },
        },
      ],
    }
    await bench.place('one', { ...spread, ...asking('1') }, { app: 'web' })
    await bench.place('two', { ...spread, ...asking('1') }, { app: 'web' })
    await bench.place('three', { ...spread, ...asking('1') }, { app: 'web' })
    const fourth = await bench.place('four', { ...spread, ...asking('1') }, { app: 'web' })
    expect(fourth.spec.nodeName).toBeUndefined()
    expect(fourth.status?.conditions?.[0]?.message).toContain('topology spread')
  })
})
