import { describe, expect, it } from 'vitest'
import { largeSnapshot } from '../../../bench/large-snapshot.ts'
import type { DrainSettings } from '../../api/drain-settings.ts'
import type { GateSpec } from '../../api/gate.ts'
import type { Pod, PodDisruptionBudget } from '../../api/kube.ts'
import type { ClusterSnapshot } from '../../api/snapshot.ts'
import { drainOf } from '../drain/drain-policy.ts'
import { itineraryOf } from './itinerary.ts'
import { lookAtPods } from './look.ts'

/** Three control-plane nodes and 27 workers with ten pods each, every fifth Deployment under a budget that allows half. */
const roomy = largeSnapshot(30, 10)
const firstBudget = roomy.podDisruptionBudgets[0] as PodDisruptionBudget

function look(
  snapshot: ClusterSnapshot,
  maxUnavailable: number | string = 1,
  settings: DrainSettings = {},
  gates: readonly GateSpec[] = [],
) {
  const spec = { reboot: 'Always', strategy: { maxUnavailable } } as const
  const view = { spec, nodes: snapshot.nodes, stateOf: () => undefined, policy: undefined, ownNode: undefined }
  return lookAtPods({ snapshot, itinerary: itineraryOf(view), drain: drainOf(settings), gates })
}

const said = (...args: Parameters<typeof look>) =>
  look(...args).map(({ certainty, blocker }) => `${certainty} ${blocker.key}`)

const withBudget = (more: Partial<NonNullable<PodDisruptionBudget['status']>>): ClusterSnapshot => ({
  ...roomy,
  podDisruptionBudgets: [{ ...firstBudget, status: { ...firstBudget.status, ...more } as never }],
})

const withPods = (change: (pod: Pod) => Pod): ClusterSnapshot => ({ ...roomy, pods: roomy.pods.map(change) })

describe('a look at all pods', () => {
  it('finds nothing where there is room and budgets allow', () => {
    expect(said(roomy)).toEqual([])
  })

  it.each([
    { name: 'wants all of its pods', more: { desiredHealthy: 50 }, certainty: 'certain' },
    { name: 'has too few healthy pods', more: { currentHealthy: 25 }, certainty: 'doubtful' },
    { name: 'has an old status', more: { observedGeneration: 0 }, certainty: 'doubtful' },
  ])('calls a budget that $name $certainty', ({ more, certainty }) => {
    expect(said(withBudget(more))).toEqual([`${certainty} PodDisruptionBudget PodDisruptionBudget shop/budget-app-1`])
  })

  it('doubts a budget that lets few of many go while many have to', () => {
    const tight = withBudget({ desiredHealthy: 49 })
    expect(said(tight, 1)).toEqual([])
    expect(said(tight, 20)).toHaveLength(1)
  })

  it('doubts a budget whose pods may find no room', () => {
    const nodes = roomy.nodes.map((node) => ({
      ...node,
      status: { ...node.status, allocatable: { cpu: '1.1', memory: '64Gi', pods: '110' } },
    }))
    const [finding] = look({ ...roomy, nodes })
    expect(finding).toMatchObject({ certainty: 'doubtful' })
    expect(finding?.blocker.message).toContain('no room while nodes are away')
  })

  it('doubts a budget whose pods nothing makes again, or which go only where others are', () => {
    expect(said({ ...roomy, replicaSets: [] })).not.toEqual([])
    const labelSelector = { matchLabels: { app: 'app-1' } }
    const spread = { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' as const, labelSelector }
    const bound = withPods((pod) => ({ ...pod, spec: { ...pod.spec, topologySpreadConstraints: [spread] } }))
    expect(said(bound)).not.toEqual([])
  })

  it('is certain of pods that nothing would make again, and names all their nodes', () => {
    const alone = withPods((pod) => {
      const { ownerReferences: _, ...metadata } = pod.metadata
      return pod.metadata.name === 'app-2-1-0' ? { ...pod, metadata } : pod
    })
    const [finding] = look(alone)
    expect(finding).toMatchObject({ certainty: 'certain', blocker: { key: 'PodUnmanaged Pod shop/app-2-1-0' } })
    expect(finding?.nodes).toEqual([alone.pods.find(({ metadata }) => metadata.name === 'app-2-1-0')?.spec.nodeName])
    expect(said(alone, 1, { unmanagedPods: 'Delete' })).toEqual([])
    expect(said(alone, 1, { onTimeout: 'Force' }), 'no time-out forces it').toHaveLength(1)
  })

  it('doubts a gate on pods that are not all well', () => {
    const gate: GateSpec = { type: 'PodsReady', namespace: 'shop', selector: { matchLabels: { app: 'app-2' } } }
    expect(said(roomy, 1, {}, [gate])).toEqual([])
    const sick = withPods((pod) => (pod.metadata.name === 'app-2-1-0' ? { ...pod, status: { phase: 'Running' } } : pod))
    expect(said(sick, 1, {}, [gate])).toEqual(['doubtful GateFailed'])
    const after = { ...gate, when: 'AfterNode' } as const
    expect(said(sick, 1, {}, [after]), 'fails its node').toEqual(['doubtful GateFailed gate PodsReady'])
    const leaving = withPods((pod) => {
      const gone = { ...pod, metadata: { ...pod.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' }, status: {} }
      return pod.metadata.name === 'app-2-1-0' ? gone : pod
    })
    expect(said(leaving, 1, {}, [gate]), 'no gate looks at it').not.toContain('doubtful GateFailed')
  })

  it('doubts pods with finalizers, and nothing that is forced in time', () => {
    const kept = withPods((pod) => ({ ...pod, metadata: { ...pod.metadata, finalizers: ['example.com/keep'] } }))
    expect(said(kept)).toContain('doubtful PodFinalizers Deployment shop/app-1')
    expect(said(kept, 1, { onTimeout: 'Force' })).toEqual([])
  })
})
