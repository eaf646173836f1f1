import { describe, expect, it } from 'vitest'
import { FakeKubeApi } from '../../../test/fakes/fake-kube-api.ts'
import { ManualClock } from '../../../test/fakes/manual-clock.ts'
import { daemonSets, deployments, pods } from '../../api/kube.ts'
import { waitReady } from './wait-ready.ts'

const namespace = 'slipway-system'
const signal = new AbortController().signal
const template = { spec: { containers: [] } }
const selector = {}

function cluster(agentsReady: number): FakeKubeApi {
  const counts = { desiredNumberScheduled: 2, currentNumberScheduled: 2, numberMisscheduled: 0 }
  return new FakeKubeApi()
    .put(deployments, {
      metadata: { name: 'slipway-operator', namespace },
      spec: { replicas: 1, selector, template },
      status: { observedGeneration: 1, readyReplicas: 1, updatedReplicas: 1 },
    })
    .put(daemonSets, {
      metadata: { name: 'slipway-agent', namespace },
      spec: { selector, template },
      status: { ...counts, numberReady: agentsReady, updatedNumberScheduled: 2, observedGeneration: 1 },
    })
    .put(pods, {
      metadata: { name: 'slipway-agent-x', namespace, labels: { 'app.kubernetes.io/name': 'slipway' } },
      spec: { nodeName: 'w2', containers: [] },
      status: { conditions: [{ type: 'Ready', status: 'False', message: 'no such image' }] },
    })
}

function waiting(api: FakeKubeApi, patienceMs = 30_000) {
  const clock = new ManualClock('2026-11-15T12:00:00Z')
  const told: string[] = []
  const tell = (line: string) => {
    if (line !== told.at(-1)) told.push(line)
  }
  const done = waitReady({ api, clock, namespace, withAgents: true, patienceMs, tell }, signal)
  const end = done.then(
    () => 'Ready',
    (error: unknown) => error,
  )
  return { clock, told, end }
}

describe('waiting for an installation', () => {
  it('tells how far it is, and after a while what is in the way', async () => {
    const api = cluster(1)
    const { clock, told, end } = waiting(api)
    await clock.advance(9000)
    expect(told).toEqual(['operator 1/1 ready, agents 1/2 ready'])
    await clock.advance(2000)
    expect(told.at(-1)).toBe('operator 1/1 ready, agents 1/2 ready; slipway-agent-x on w2: no such image')
    const asked = api.requests.filter((verb) => verb === 'list').length
    expect(asked).toBe(1)
    const body = { status: { numberReady: 2 } }
    await api.patch(daemonSets, { name: 'slipway-agent', namespace }, { type: 'merge', body }, signal)
    await clock.advance(2000)
    expect(await end).toBe('Ready')
    expect(told.at(-1)).toBe('operator 1/1 ready, agents 2/2 ready')
  })

  it('ends with the reason when its time is up', async () => {
    const { clock, end } = waiting(cluster(1), 5000)
    await clock.advance(7000)
    expect(await end).toMatchObject({
      code: 'NotReadyInTime',
      message: expect.stringMatching(/agents 1\/2 ready; slipway-agent-x on w2: no such image$/),
      nextStep: expect.stringContaining('get pods'),
    })
  })
})
