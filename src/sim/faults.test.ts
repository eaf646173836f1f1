import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { configMaps, nodes } from '../api/kube.ts'
import { isKubeError } from '../api/kube-error.ts'
import {
  type ChanceFaultKind,
  drawFaultPlan,
  eventFaultKinds,
  type FaultPlan,
  faultKinds,
  onlyOn,
} from './fault-plan.ts'
import { FaultInjector } from './faults.ts'
import { SeededRandom } from './seeded-random.ts'
import { SimCluster } from './sim-cluster.ts'
import type { NodeSpec } from './sim-machine.ts'
import { createOperatorPods } from './workloads.ts'

const nodeSpecs: readonly NodeSpec[] = [
  { name: 'cp1', role: 'control-plane', version: 'v1.35.4' },
  { name: 'w1', role: 'worker', version: 'v1.35.4' },
  { name: 'w2', role: 'worker', version: 'v1.35.4' },
]
const signal = new AbortController().signal

/** How often an agent got past its first write to the disk. */
let agentStarts = 0

function cluster(plan: FaultPlan, seed = 1) {
  let injector: FaultInjector | undefined
  const made = new SimCluster({
    seed,
    nodes: nodeSpecs,
    latencyMs: [5, 50],
    programs: {
      slipway: (_, process) => new Promise((resolve) => process.signal.addEventListener('abort', () => resolve())),
    },
    startAgent: async (process, host) => {
      await host.disk.makeFolder('/state')
      agentStarts++
      await new Promise<void>((resolve) => process.signal.addEventListener('abort', () => resolve()))
    },
    faults: (self) => {
      injector = new FaultInjector(self, plan)
      return injector
    },
  }).start()
  if (injector === undefined) throw new Error('no injector')
  return { made, injector }
}

const always = (kind: ChanceFaultKind): FaultPlan => ({
  chances: { [kind]: { rate: 1, limit: 1, spared: [] } },
  events: [],
  quietBeforeMs: 0,
  quietAfterMs: 60_000,
})

describe('faults', () => {
  it('a plan has a few of each, within the quiet time, and is the same for the same seed', () => {
    fc.assert(
      fc.property(fc.nat(), (seed) => {
        const plan = drawFaultPlan(new SeededRandom(seed), { nodes: nodeSpecs })
        expect(Object.keys(plan.chances).length).toBeLessThanOrEqual(4)
        expect(plan.events.length).toBeLessThanOrEqual(3)
        for (const { atMs, forMs } of plan.events) expect(atMs + forMs).toBeLessThanOrEqual(plan.quietAfterMs)
        expect(drawFaultPlan(new SeededRandom(seed), { nodes: nodeSpecs })).toEqual(plan)
      }),
    )
  })

  it('every kind is drawn sooner or later', () => {
    const seen = new Set<string>()
    for (let seed = 0; seed < 300; seed++) {
      const plan = drawFaultPlan(new SeededRandom(seed), { nodes: nodeSpecs })
      for (const kind of Object.keys(plan.chances)) seen.add(kind)
      for (const { kind } of plan.events) seen.add(kind)
    }
    expect([...seen].sort()).toEqual([...faultKinds].sort())
  })

  it.each([
    { kind: 'conflict', code: 'Conflict', written: false },
    { kind: 'throttled-before', code: 'TooManyRequests', written: false },
    { kind: 'throttled-after', code: 'TooManyRequests', written: true },
    { kind: 'server-error-before', code: 'ServerError', written: false },
    { kind: 'server-error-after', code: 'ServerError', written: true },
    { kind: 'timeout-before', code: 'Timeout', written: false },
    { kind: 'timeout-after', code: 'Timeout', written: true },
    { kind: 'crash-before-write', code: undefined, written: false },
    { kind: 'crash-after-write', code: undefined, written: true },
  ] as const)('$kind: the caller sees $code, written $written', async ({ kind, code, written }) => {
    const { made, injector } = cluster(always(kind))
    const process = made.process('victim', { faults: injector })
    let seen: string | undefined
    process.api.create(configMaps, { metadata: { name: 'one', namespace: 'default' } }, signal).then(
      () => {
        seen = 'success'
      },
      (error: unknown) => {
        seen = isKubeError(error) ? error.code : 'other'
      },
    )
    await made.run({ limitMs: 10_000 })
    expect(seen).toBe(code)
    expect(made.server.peek(configMaps, { name: 'one', namespace: 'default' }) !== undefined).toBe(written)
    expect(process.alive).toBe(code !== undefined)
    expect(injector.hits.map((hit) => hit.kind)).toEqual([kind])
  })

  it.each([
    { kind: 'watch-broken', events: 0, end: 'Unreachable' },
    { kind: 'watch-stalled', events: 0, end: undefined },
    { kind: 'watch-duplicated', events: 3, end: undefined },
    { kind: 'watch-delayed', events: 2, end: undefined },
    { kind: 'watch-bookmarks-only', events: 2, end: undefined },
  ] as const)('$kind: $events events arrive, it ends with $end', async ({ kind, events, end }) => {
    const { made, injector } = cluster(always(kind))
    const process = made.process('victim', { faults: injector })
    let count = 0
    let ended: string | undefined
    const options = { namespace: 'default', resourceVersion: made.server.resourceVersion }
    process.api
      .watch(configMaps, options, (event) => event.type !== 'BOOKMARK' && count++, signal)
      .catch((error: unknown) => {
        ended = isKubeError(error) ? error.code : 'other'
      })
    await made.run({ limitMs: 1000 })
    for (const name of ['one', 'two'])
      made.server.create('test', configMaps, { metadata: { name, namespace: 'default' } })
    await made.run({ limitMs: 1000 })
    if (kind === 'watch-delayed' || kind === 'watch-bookmarks-only') expect(count).toBe(0)
    await made.run({ limitMs: 300_000 })
    expect([count, ended]).toEqual([events, end])
  })

  it('crash-at-disk: the agent dies there, and the next one gets past it', async () => {
    agentStarts = 0
    const { made, injector } = cluster(always('crash-at-disk'))
    await made.run({ limitMs: 30_000 })
    expect(injector.hits.map((hit) => hit.kind)).toEqual(['crash-at-disk'])
    expect(agentStarts).toBe(nodeSpecs.length)
    expect(made.failures).toEqual([])
  })

  it.each(eventFaultKinds)('%s hits somebody, and the cluster comes back', async (kind) => {
    const node = onlyOn[kind] === 'control-plane' ? 'cp1' : 'w1'
    const event = { kind, atMs: 60_000, forMs: 20_000, node, busy: false, amount: 3 }
    const { made, injector } = cluster({ chances: {}, events: [event], quietBeforeMs: 0, quietAfterMs: 100_000 })
    await createOperatorPods(made.client('test'), 2, signal)
    made.server.create(
      'test',
      { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', plural: 'leases', namespaced: true },
      {
        metadata: { name: 'slipway', namespace: 'slipway-system' },
        spec: { holderIdentity: 'nobody' },
      },
    )
    await made.run({ limitMs: 240_000 })
    expect(injector.hits.map((hit) => hit.kind)).toEqual([kind])
    expect(made.server.peek(nodes, { name: 'w1' }) === undefined).toBe(kind === 'node-deleted')
    expect(made.programs().length).toBe(2)
    expect(made.failures).toEqual([])
  })
})
