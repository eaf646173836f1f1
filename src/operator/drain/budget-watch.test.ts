import { describe, expect, it } from 'vitest'
import { FakeKubeApi } from '../../../test/fakes/fake-kube-api.ts'
import { fixedRandom } from '../../../test/fakes/fixed-random.ts'
import { ManualClock } from '../../../test/fakes/manual-clock.ts'
import { RecordingLog } from '../../../test/fakes/recording-log.ts'
import { metadata, samplePod } from '../../../test/samples/cluster-objects.ts'
import { type PodDisruptionBudget, podDisruptionBudgets, pods } from '../../api/kube.ts'
import { KubeError } from '../../api/kube-error.ts'
import { BudgetKeepers } from './budget-keepers.ts'
import { BudgetWatch } from './budget-watch.ts'

const at = (minute: number) => `2026-01-01T12:0${minute}:00Z`
const budget = (allowed: number, resourceVersion = '1'): PodDisruptionBudget => ({
  metadata: metadata('web', { namespace: 'shop', resourceVersion }),
  spec: { selector: { matchLabels: { app: 'web' } } },
  status: { disruptionsAllowed: allowed, currentHealthy: 1, desiredHealthy: 1, expectedPods: 2 },
})

function setUp() {
  const api = new FakeKubeApi()
  const clock = new ManualClock()
  const ports = { api, clock, random: fixedRandom(), log: new RecordingLog() }
  const woken: string[] = []
  const stop = new AbortController()
  return { api, clock, ports, woken, signal: stop.signal }
}

describe('what draining nodes may take of a budget', () => {
  const needs = (pods: number) => new Map([['uid-web', pods]])

  it('is what older ones leave, and the next is told when they need less', () => {
    const { ports, woken, signal } = setUp()
    const watch = new BudgetWatch(ports, (node) => woken.push(node), signal)
    watch.claim('w1', at(1), needs(2))
    watch.claim('w2', at(2), needs(1))
    expect(watch.allowance(budget(1), 'w1', at(1)).left).toBe(1)
    expect(watch.allowance(budget(1), 'w2', at(2))).toEqual({ left: -1, before: 'w1' })
    watch.waitFor(budget(1), 'w2')
    watch.claim('w1', at(1), needs(2))
    expect(woken).toEqual([])
    watch.claim('w1', at(1), new Map())
    expect(woken).toEqual(['w2'])
    expect(watch.allowance(budget(1), 'w2', at(2)).left).toBe(1)
  })

  it('is less what was asked for and does not show yet', async () => {
    const { ports, clock, woken, signal } = setUp()
    const watch = new BudgetWatch(ports, (node) => woken.push(node), signal)
    watch.reserve(budget(2))
    expect(watch.allowance(budget(2), 'w1', at(1)).left).toBe(1)
    expect(watch.allowance(budget(2, '2'), 'w1', at(1)).left).toBe(2)
    watch.waitFor(budget(2), 'w2')
    watch.unreserve(budget(2))
    expect(watch.allowance(budget(2), 'w1', at(1)).left).toBe(2)
    expect(woken).toEqual([])
    await clock.advance(1_000)
    expect(woken).toEqual(['w2'])
  })

  it('is watched only while somebody drains, and a minute longer', async () => {
    const { api, ports, clock, signal } = setUp()
    const watch = new BudgetWatch(ports, () => undefined, signal)
    const isWatched = () => api.watches.some(({ type }) => type === podDisruptionBudgets)
    expect(isWatched()).toBe(false)
    const release = watch.use()
    await clock.advance(10)
    expect(isWatched()).toBe(true)
    release()
    await clock.advance(59_000)
    expect(isWatched()).toBe(true)
    await clock.advance(2_000)
    expect(isWatched()).toBe(false)
  })
})

describe('who keeps a budget', () => {
  const sick = samplePod('sick', { ready: false, spec: { nodeName: 'w4' } })
  const labelled = { ...sick, metadata: { ...sick.metadata, labels: { app: 'web' } } }

  it('is looked for when the budget changed, and not often', async () => {
    const { api, ports, clock, signal } = setUp()
    api.put(pods, labelled)
    const keepers = new BudgetKeepers(ports)
    expect(keepers.of(budget(0))).toBeUndefined()
    await keepers.look(budget(0), signal)
    expect(keepers.of(budget(0))).toMatch(/pod shop\/sick is not Ready on w4 since/)
    await clock.advance(60_000)
    await keepers.look(budget(0), signal)
    await keepers.look(budget(0, '2'), signal)
    await keepers.look(budget(0, '3'), signal)
    expect(api.requests.filter((verb) => verb === 'list')).toHaveLength(2)
    await clock.advance(15_000)
    await keepers.look(budget(0, '3'), signal)
    expect(api.requests.filter((verb) => verb === 'list')).toHaveLength(3)
  })

  it('stays unknown where the pods cannot be read, and nothing fails by it', async () => {
    const { api, ports, signal } = setUp()
    api.failure = new KubeError('Forbidden', 'no')
    const keepers = new BudgetKeepers(ports)
    await keepers.look(budget(0), signal)
    expect(keepers.of(budget(0))).toBeUndefined()
  })
})
