import { describe, expect, it } from 'vitest'
import { largeSnapshot } from '../../../bench/large-snapshot.ts'
import type { DirectUpdateSpec } from '../../api/direct-update.ts'
import type { Pod } from '../../api/kube.ts'
import type { ClusterSnapshot } from '../../api/snapshot.ts'
import { itineraryOf } from '../../core/plan/itinerary.ts'
import { partOfCluster } from './part-of-cluster.ts'

/** Three control-plane nodes and 97 workers; the pods of app-1 are on w1 to w50, one on each; it has a budget of half. */
const whole = largeSnapshot(100, 10)
const strategy = { maxUnavailable: 20, waves: [{ size: '50%', soak: '5m' }, { size: '100%' }] }
const chosen = ['cp1', 'cp2', 'cp3', 'w1', 'w2', 'w9', 'w60']

function partOf(snapshot: ClusterSnapshot = whole, more: Partial<DirectUpdateSpec> = {}) {
  const spec: DirectUpdateSpec = { reboot: 'Always', strategy, ...more }
  const view = { spec, nodes: snapshot.nodes, stateOf: () => undefined, policy: undefined, ownNode: undefined }
  return partOfCluster({ snapshot, spec, itinerary: itineraryOf(view), rehearsed: new Set(chosen) })
}

const podsOf = (snapshot: ClusterSnapshot, app: string) =>
  snapshot.pods.filter(({ metadata }) => metadata.labels?.app === app)
const nodeOf = (snapshot: ClusterSnapshot, name: string) =>
  snapshot.nodes.find(({ metadata }) => metadata.name === name)

describe('the part of a cluster that is rehearsed', () => {
  const { snapshot, spec, asleep } = partOf()

  it('has all nodes, and the pods of those that are rehearsed', () => {
    expect(snapshot.nodes).toHaveLength(100)
    expect(asleep.size).toBe(93)
    expect(new Set(snapshot.pods.map((pod) => pod.spec.nodeName))).toEqual(new Set(['w1', 'w2', 'w9', 'w60']))
    expect(podsOf(snapshot, 'app-1')).toHaveLength(3)
  })

  it('leaves every sum as it was: replicas, budgets, room', () => {
    const set = snapshot.replicaSets.find(({ metadata }) => metadata.name === 'app-1-1')
    const deployment = snapshot.deployments.find(({ metadata }) => metadata.name === 'app-1')
    expect([set?.spec.replicas, deployment?.spec.replicas]).toEqual([3, 3])
    const budget = snapshot.podDisruptionBudgets.find(({ metadata }) => metadata.name === 'budget-app-1')
    // 25 of 50 must be healthy, and 47 are that are not here.
    expect(budget?.spec).toMatchObject({ minAvailable: 0 })
    expect(budget?.spec.maxUnavailable).toBeUndefined()
    expect(budget?.status).toMatchObject({ currentHealthy: 3, expectedPods: 3, desiredHealthy: 0 })
    const asked = whole.pods.filter((pod) => pod.spec.nodeName === 'w3').length
    expect(nodeOf(snapshot, 'w3')?.status?.allocatable).toMatchObject({
      cpu: String(16 - asked / 10),
      pods: String(110 - asked),
    })
    expect(nodeOf(snapshot, 'w1')?.status?.allocatable).toMatchObject({ cpu: '16' })
  })

  it('has the operator awake wherever it runs, and the whole control plane', () => {
    const [pod] = podsOf(whole, 'app-2')
    const labels = { 'app.kubernetes.io/name': 'slipway', 'app.kubernetes.io/component': 'operator' }
    const operator = { ...pod, metadata: { ...pod?.metadata, name: 'slipway', labels } } as Pod
    const part = partOf({ ...whole, pods: [...whole.pods, operator] })
    expect(part.snapshot.pods.map(({ metadata }) => metadata.name)).toContain('slipway')
    expect(part.asleep.has(operator.spec.nodeName ?? '')).toBe(false)
    expect(part.asleep.has('cp2')).toBe(false)
  })

  it('keeps a budget that wants all of its pods one that does', () => {
    const podDisruptionBudgets = whole.podDisruptionBudgets.map((budget) => ({
      ...budget,
      spec: { ...budget.spec, maxUnavailable: 0 },
      status: { ...budget.status, desiredHealthy: 50, disruptionsAllowed: 0 } as never,
    }))
    const [budget] = partOf({ ...whole, podDisruptionBudgets }).snapshot.podDisruptionBudgets
    expect(budget?.spec.minAvailable).toBe(3)
    expect(budget?.status).toMatchObject({ desiredHealthy: 3, expectedPods: 3 })
  })

  it('keeps pods that are not well, that go, that others keep away from, and that gates ask for', () => {
    const far = podsOf(whole, 'app-1').find(({ spec: { nodeName } }) => nodeName === 'w30')
    const changed = (change: (pod: Pod) => Pod) => ({
      ...whole,
      pods: whole.pods.map((pod) => (pod === far ? change(pod) : pod)),
    })
    const kept = (snapshot: ClusterSnapshot, more: Partial<DirectUpdateSpec> = {}) =>
      podsOf(partOf(snapshot, more).snapshot, 'app-1').length
    expect(kept(changed((pod) => ({ ...pod, status: { phase: 'Running' } })))).toBe(4)
    expect(kept(changed((pod) => ({ ...pod, metadata: { ...pod.metadata, finalizers: ['x/y'] } })))).toBe(4)
    const terms = { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'kubernetes.io/hostname' }] }
    expect(kept(changed((pod) => ({ ...pod, spec: { ...pod.spec, affinity: { podAntiAffinity: terms } } })))).toBe(4)
    const gate = { type: 'PodsReady', namespace: 'shop', selector: { matchLabels: { app: 'app-1' } } } as const
    expect(kept(whole, { gates: [gate] })).toBe(50)
  })

  it('is updated in the waves and with as many at once as in the whole', () => {
    expect(spec.strategy?.waves).toEqual([{ size: 3, soak: '5m' }, { size: '100%' }])
    // w1, w2 and w9 are under work together in the whole cluster; w60 is not.
    expect(spec.strategy?.maxUnavailable).toBe(3)
    const marks = ['w1', 'w2', 'w9', 'w60'].map((name) => nodeOf(snapshot, name)?.metadata.labels)
    expect(marks.map((labels) => Number(labels?.['slipway.dev/weight']))).toEqual([97, 96, 89, 38])
    expect(nodeOf(snapshot, 'w3')?.metadata.labels).toEqual(nodeOf(whole, 'w3')?.metadata.labels)
  })

  it('has its control plane in the order that is asked for', () => {
    const part = partOf(whole, { strategy: { ...strategy, first: ['w9', 'cp3', 'cp2'] } })
    expect(part.spec.strategy?.first).toEqual(['cp3', 'cp2'])
    const marks = ['w9', 'w1'].map((name) => nodeOf(part.snapshot, name)?.metadata.labels?.['slipway.dev/weight'])
    expect(marks).toEqual(['97', '96'])
    expect(spec.strategy).not.toHaveProperty('first')
  })
})
