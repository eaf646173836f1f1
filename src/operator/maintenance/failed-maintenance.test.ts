import { expect, it } from 'vitest'
import { FakeKubeApi } from '../../../test/fakes/fake-kube-api.ts'
import { fixedRandom } from '../../../test/fakes/fixed-random.ts'
import { ManualClock } from '../../../test/fakes/manual-clock.ts'
import { RecordingLog } from '../../../test/fakes/recording-log.ts'
import { sampleNode, sampleState } from '../../../test/samples/cluster-objects.ts'
import type { Rollout } from '../../api/node-state.ts'
import { Cluster } from '../cluster/cluster.ts'
import { FailedMaintenance } from './failed-maintenance.ts'

const since = '2026-01-01T11:00:00.000Z'
const rollout = (part: Partial<Rollout>): Rollout => ({
  ...{ kind: 'Maintenance', update: 'default', operationID: 'maintenance:w1/1', phase: 'Failed', since, attempt: 1 },
  ...part,
})
const cordon = { prior: 'Schedulable' } as const
const silent = { code: 'OrderTimedOut', message: 'the agent has not accepted the order; nothing was begun' } as const

it.each<[string, Rollout, string | undefined]>([
  ['a job that failed keeps the others', rollout({ cordon }), 'w1'],
  ['so does one that could not be fetched and checked', rollout({}), 'w1'],
  ['so does a node under work that needs a person', rollout({ phase: 'RequiresAttention', cordon }), 'w1'],
  ['one on which nothing was begun keeps nobody', rollout({ phase: 'RequiresAttention', reason: silent }), undefined],
  [
    'nor does a drain that was given up',
    rollout({ cordon, reason: { code: 'DrainAborted', message: 'given up' } }),
    undefined,
  ],
  ['an update is none of it', rollout({ kind: undefined, cordon }), undefined],
])('%s', (_name, given, kept) => {
  const ports = { api: new FakeKubeApi(), clock: new ManualClock(), random: fixedRandom(), log: new RecordingLog() }
  const cluster = new Cluster(ports, 'slipway-system')
  cluster.nodes.upsert(sampleNode('w1'))
  const failed = new FailedMaintenance(cluster, () => true)
  cluster.states.upsert(sampleState('w1', { rollout: given }))
  expect(failed.besides('w2')).toBe(kept)
  expect(failed.besides('w1')).toBeUndefined()
  // One that has just started looks at what is there.
  expect(new FailedMaintenance(cluster, () => true).besides('w2')).toBe(kept)
})
