import { expect, it } from 'vitest'
import { FakeKubeApi } from '../../../test/fakes/fake-kube-api.ts'
import { fixedRandom } from '../../../test/fakes/fixed-random.ts'
import { ManualClock } from '../../../test/fakes/manual-clock.ts'
import { RecordingLog } from '../../../test/fakes/recording-log.ts'
import { maintenancePolicies, policyName } from '../../api/maintenance-policy.ts'
import { EventRecorder } from '../../kube/event-recorder.ts'
import type { Web } from '../../ports/web.ts'
import { Cluster } from '../cluster/cluster.ts'
import { Silences } from './silences.ts'

const { signal } = new AbortController()
const namespace = 'slipway-system'
const matchers = ['node="{node}"']

it('of one server are kept though the address of another is none, and that is told', async () => {
  const grant = { node: 'w1', nodeUID: 'w1', holder: 'op', since: '2026-01-01T00:00:00Z' }
  const api = new FakeKubeApi().put(maintenancePolicies, {
    metadata: { name: policyName },
    spec: {
      silences: [
        { name: 'wrong', url: 'http://ana:T0P5ECRET@alerts:99999', matchers },
        { name: 'right', url: 'http://alerts:9093', matchers },
      ],
    },
    status: { ledger: { epoch: 1, grants: [grant] } },
  })
  const posted: string[] = []
  const web: Web = {
    request: async ({ method, url }) => {
      // As a client says it: with the address.
      if (!URL.canParse(url)) throw Object.assign(new TypeError('Invalid URL'), { input: url })
      if (method === 'POST') posted.push(url)
      return { status: 200, body: method === 'POST' ? '{"silenceID":"s1"}' : '[]' }
    },
  }
  const log = new RecordingLog()
  const ports = { api, clock: new ManualClock(), random: fixedRandom(), log, web }
  const cluster = new Cluster(ports, namespace)
  cluster.policies.upsert(api.found(maintenancePolicies, { name: policyName }))
  const events = new EventRecorder({ ...ports, controller: 'slipway.dev/operator', instance: 'op', namespace })
  const silences = new Silences({ ports, cluster, events, namespace })
  await silences.reconcile('pass', signal)
  await silences.reconcile('pass', signal)
  expect(posted).toEqual(['http://alerts:9093/api/v2/silences'])
  expect(log.lines).toMatchObject([{ fields: { code: 'SilenceFailed', message: expect.stringContaining('wrong') } }])
  expect(JSON.stringify(log.lines)).not.toContain('T0P5ECRET')
})
