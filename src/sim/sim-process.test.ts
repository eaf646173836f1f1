import { describe, expect, it } from 'vitest'
import { configMaps, podDisruptionBudgets, pods } from '../api/kube.ts'
import { SimCluster } from './sim-cluster.ts'

const signal = new AbortController().signal
const world = () => new SimCluster({ seed: 1, nodes: [], latencyMs: [10, 10], which: [] }).start()

describe('simulated process', () => {
  it('takes its time for each request, and is counted', async () => {
    const cluster = world()
    const process = cluster.process('one')
    let answeredMs = -1
    void process.api.list(configMaps, {}, signal).then(() => {
      answeredMs = cluster.clock.monotonicMs()
    })
    await cluster.run({ limitMs: 1000 })
    expect(answeredMs).toBe(10)
    expect(cluster.counter.of('one').get('list')).toBe(1)
    expect(cluster.counter.total((client) => client === 'one')).toBe(1)
  })

  it('settles nothing after a crash', async () => {
    const cluster = world()
    const process = cluster.process('one')
    let settled = 0
    const settle = () => {
      settled++
    }
    void process.api.list(configMaps, {}, signal).then(settle, settle)
    void process.api.watch(configMaps, {}, settle, signal).then(settle, settle)
    process.clock.after(20, settle)
    process.crash()
    cluster.server.create('test', configMaps, { metadata: { name: 'a', namespace: 'default' } })
    await cluster.run({ limitMs: 1000 })
    expect(settled).toBe(0)
    expect(await process.exit).toEqual({ how: 'crashed' })
  })

  it('sleeps through a freeze and then sees everything at once, in order', async () => {
    const cluster = world()
    const process = cluster.process('one')
    const seen: string[] = []
    const options = { resourceVersion: cluster.server.resourceVersion }
    void process.api
      .watch(configMaps, options, (event) => event.type !== 'BOOKMARK' && seen.push(event.object.metadata.name), signal)
      .catch(() => seen.push('broken'))
    await cluster.run({ limitMs: 100 })
    process.freeze(60_000)
    for (const name of ['a', 'b'])
      cluster.server.create('test', configMaps, { metadata: { name, namespace: 'default' } })
    await cluster.run({ limitMs: 59_000 })
    expect(seen).toEqual([])
    await cluster.run({ limitMs: 2000 })
    expect(seen).toEqual(['a', 'b'])
  })

  it('holds an eviction back while the budget’s status is older than its spec', () => {
    const { server } = world()
    const metadata = { name: 'one', namespace: 'default', labels: { app: 'a' } }
    const ref = { name: 'one', namespace: 'default' }
    server.create('test', pods, { metadata, spec: { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] } })
    server.patch('test', pods, ref, { type: 'merge', body: { status: { phase: 'Running' } } }, 'status')
    const spec = { minAvailable: 0, selector: { matchLabels: { app: 'a' } } }
    server.create('test', podDisruptionBudgets, { metadata: ref, spec })
    expect(() => server.evict('test', ref, {})).toThrow(
      expect.objectContaining({ code: 'TooManyRequests', retryAfterMs: 10_000 }),
    )
    const status = {
      observedGeneration: 1,
      disruptionsAllowed: 1,
      currentHealthy: 1,
      desiredHealthy: 0,
      expectedPods: 1,
    }
    server.patch('test', podDisruptionBudgets, ref, { type: 'merge', body: { status } }, 'status')
    server.evict('test', ref, {})
    const spent = server.peek(podDisruptionBudgets, ref)?.status
    expect(spent).toMatchObject({ disruptionsAllowed: 0, disruptedPods: { one: expect.any(String) } })
  })
})
