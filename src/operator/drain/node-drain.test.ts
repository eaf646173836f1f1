import { describe, expect, it } from 'vitest'
import { FakeKubeApi } from '../../../test/fakes/fake-kube-api.ts'
import { fixedRandom } from '../../../test/fakes/fixed-random.ts'
import { ManualClock } from '../../../test/fakes/manual-clock.ts'
import { RecordingLog } from '../../../test/fakes/recording-log.ts'
import { sampleNode, samplePod } from '../../../test/samples/cluster-objects.ts'
import { operation } from '../../../test/samples/node-views.ts'
import { type Pod, pods } from '../../api/kube.ts'
import { KubeError } from '../../api/kube-error.ts'
import type { Rollout } from '../../api/node-state.ts'
import type { ReasonCode } from '../../api/reason.ts'
import { podName } from '../../core/drain/workload-of.ts'
import { Cluster } from '../cluster/cluster.ts'
import { BudgetKeepers } from './budget-keepers.ts'
import { BudgetWatch } from './budget-watch.ts'
import { type DrainStep, NodeDrain } from './node-drain.ts'
import { OwnPods } from './own-pods.ts'
import { VolumeWatch } from './volume-watch.ts'

const namespace = 'slipway-system'
const since = '2026-01-01T12:00:00Z'
const web = samplePod('web', { spec: { nodeName: 'w1' } })
const ours = {
  'app.kubernetes.io/name': 'slipway',
  'app.kubernetes.io/component': 'operator',
}
const self: Pod = { ...web, metadata: { ...web.metadata, name: 'self', uid: 'uid-self', namespace, labels: ours } }

/** w1 with this pod on it, beside a w2 that could take it. */
async function setUp(pod: Pod, given: Partial<Pick<DrainStep, 'operation'>> & { readonly told?: ReasonCode } = {}) {
  const api = new FakeKubeApi().put(pods, pod)
  const clock = new ManualClock()
  const ports = { api, clock, random: fixedRandom(), log: new RecordingLog() }
  const { signal } = new AbortController()
  const cluster = new Cluster(ports, namespace)
  cluster.nodes.upsert(sampleNode('w2'))
  const ownPods = new OwnPods({ cluster, podName: 'self', namespace, stepDown: async () => undefined })
  const budgets = new BudgetWatch(ports, () => undefined, signal)
  const volumes = new VolumeWatch(ports, () => undefined, signal)
  const drain = new NodeDrain(
    { ports, budgets, volumes, ownPods, keepers: new BudgetKeepers(ports) },
    'w1',
    () => undefined,
    signal,
  )
  const known = drain.synced(signal)
  await clock.advance(10)
  await known
  const recorded = given.told && {
    pod: podName(pod),
    state: 'Forced' as const,
    reason: { code: given.told, message: '' },
  }
  const now = clock.now()
  const deadline = now.toISOString()
  const rollout: Rollout = {
    ...{ update: 'u', operationID: operation.id, phase: 'Draining', since, attempt: 1, deadline },
    ...(recorded && { drain: { total: 1, left: 1, pods: [recorded] } }),
  }
  const common = { operation, ...given, node: sampleNode('w1'), rollout, takenAt: since, graceUntil: now }
  const step = () => drain.step({ ...common, now: clock.now() }, signal)
  return { api, clock, step }
}

const answers = {
  'an eviction that is refused': new KubeError('ServerError', 'a webhook is away', { status: 500 }),
  'an eviction that nobody answers': new KubeError('Timeout', 'no answer within 30 s'),
  'an eviction that meets another write': new KubeError('Conflict', 'the object has been modified', { status: 409 }),
}

describe('a drain is looked at again by itself', () => {
  for (const [what, error] of Object.entries(answers)) {
    for (const [whose, pod] of Object.entries({ 'a pod': web, 'the operator’s own pod': self })) {
      it(`after ${what}, of ${whose}`, async () => {
        const { api, step } = await setUp(pod)
        api.before = (verb) => {
          if (verb === 'evict') throw error
        }
        const { left, againMs } = await step()
        expect(left).toBe(1)
        expect(againMs).toBeLessThanOrEqual(5_000)
      })
    }
  }

  it('after one that was accepted, in case the watch never shows it', async () => {
    const { api, step } = await setUp(web)
    api.muted = true
    expect((await step()).againMs).toBe(30_000)
  })
})

describe('a deletion by force that is refused', () => {
  const forcing = { ...operation, drain: { ...operation.drain, onTimeout: 'Force' as const } }
  const stuck: Pod = { ...web, metadata: { ...web.metadata, deletionTimestamp: '2025-12-31T12:00:00Z' } }

  it.each<[string, Pod, ReasonCode]>([
    ['of a pod that no eviction moves', web, 'PodForced'],
    ['of a pod that does not end', stuck, 'PodRemoved'],
  ])('is asked for again in a while, not in a loop: %s', async (_what, pod, told) => {
    const { api, clock, step } = await setUp(pod, { operation: forcing, told })
    let asked = 0
    api.before = (verb) => {
      if (verb === 'delete') asked++
      if (verb === 'delete' || verb === 'evict') throw new KubeError('Forbidden', 'a webhook keeps it', { status: 403 })
    }
    const said: string[] = []
    for (let looks = 0; looks < 20; looks++) {
      const { againMs = 60_000, blocked } = await step()
      said.push(...blocked.map(({ reason }) => reason.message))
      await clock.advance(Math.max(1, againMs))
    }
    expect(said).toContainEqual(expect.stringContaining('a webhook keeps it'))
    expect(asked).toBeGreaterThan(3)
    expect(asked).toBeLessThanOrEqual(11)
  })
})
