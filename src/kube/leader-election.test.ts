import { setImmediate as settle } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { FakeKubeApi } from '../../test/fakes/fake-kube-api.ts'
import { fixedRandom } from '../../test/fakes/fixed-random.ts'
import { ManualClock } from '../../test/fakes/manual-clock.ts'
import { RecordingLog } from '../../test/fakes/recording-log.ts'
import { leases } from '../api/kube.ts'
import { KubeError } from '../api/kube-error.ts'
import { fencedApi } from './fenced-api.ts'
import { LeaderElection, type Term } from './leader-election.ts'

const lease = { name: 'operator', namespace: 'slipway' }
const cleanUps: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp()
})

/** Each candidate may have its own clock: two machines. */
function candidate(api: FakeKubeApi, clock: ManualClock, identity: string) {
  const log = new RecordingLog()
  const election = new LeaderElection({
    api,
    clock,
    random: fixedRandom(),
    log,
    namespace: 'slipway',
    name: 'operator',
    identity,
  })
  const terms: Term[] = []
  const stop = new AbortController()
  const running = election.run(async (term) => {
    terms.push(term)
    await new Promise<void>((resolve) => term.signal.addEventListener('abort', () => resolve(), { once: true }))
  }, stop.signal)
  const leads = () => terms.at(-1)?.isCurrent() ?? false
  cleanUps.push(async () => {
    stop.abort()
    await clock.advance(10_000)
    await running
  })
  return { election, log, terms, stop, running, leads, clock }
}

const holder = (api: FakeKubeApi) => api.find(leases, lease)?.spec.holderIdentity

describe('LeaderElection', () => {
  test('one leads, the other stands by without a request', async () => {
    const api = new FakeKubeApi()
    const clock = new ManualClock()
    const a = candidate(api, clock, 'a')
    await clock.advance(100)
    const b = candidate(api, clock, 'b')
    await clock.advance(60_000)
    expect([a.leads(), b.leads()]).toEqual([true, false])
    expect(api.requests.filter((request) => request === 'get' || request === 'list')).toEqual([])
    // One a renewal, and one watch each.
    expect(api.requests.filter((request) => request === 'replace')).toHaveLength(12)
    expect(api.requests.filter((request) => request === 'watch')).toHaveLength(2)
  })

  test('a released lease is taken at once', async () => {
    const api = new FakeKubeApi()
    const clock = new ManualClock()
    const a = candidate(api, clock, 'a')
    await clock.advance(100)
    const b = candidate(api, clock, 'b')
    await clock.advance(1_000)
    a.stop.abort()
    await settle()
    await a.running
    expect(a.leads()).toBe(false)
    expect(b.leads()).toBe(true)
    expect(b.terms[0]?.transitions).toBe(1)
  })

  test('a frozen leader is not current when it wakes, before any of its timers ran, and another has taken over', async () => {
    const api = new FakeKubeApi()
    const [clockA, clockB] = [new ManualClock(), new ManualClock()]
    const a = candidate(api, clockA, 'a')
    await clockA.advance(100)
    const b = candidate(api, clockB, 'b')
    await clockB.advance(14_000)
    expect([a.leads(), b.leads()]).toEqual([true, false])
    // A stopped process neither fires timers nor hears its watch.
    api.watches = api.watches.slice(1)
    clockA.freeze(60_000)
    await clockB.advance(2_000)
    expect(b.leads()).toBe(true)
    const [term] = a.terms
    expect(term?.isCurrent()).toBe(false)
    const fenced = fencedApi(api, () => term?.isCurrent() ?? false)
    const write = fenced.delete(
      { apiVersion: 'v1', kind: 'Node', plural: 'nodes', namespaced: false },
      { name: 'n' },
      {},
      new AbortController().signal,
    )
    await expect(write).rejects.toMatchObject({ code: 'NotLeader' })
    await clockA.advance(1)
    expect(term?.signal.aborted).toBe(true)
    expect(holder(api)).toBe('b')
  })

  test('the term ends before the lease can be taken while the API is away', async () => {
    const api = new FakeKubeApi()
    const clock = new ManualClock()
    const a = candidate(api, clock, 'a')
    await clock.advance(100)
    const b = candidate(api, clock, 'b')
    // The last renewal is the one at 5 s.
    await clock.advance(7_000)
    api.before = () => {
      throw new KubeError('Unreachable', 'refused')
    }
    let endedMs = 0
    a.terms[0]?.signal.addEventListener('abort', () => {
      endedMs = clock.monotonicMs()
    })
    await clock.advance(30_000)
    expect(endedMs).toBe(15_000)
    expect([a.leads(), b.leads()]).toEqual([false, false])
    api.before = () => {}
    await clock.advance(40_000)
    expect([a.leads(), b.leads()].filter(Boolean)).toHaveLength(1)
  })

  test('a renewal that failed although it took effect costs nothing', async () => {
    const api = new FakeKubeApi()
    const clock = new ManualClock()
    const a = candidate(api, clock, 'a')
    await clock.advance(100)
    let failed = false
    api.after = (request) => {
      if (request !== 'replace' || failed) return
      failed = true
      throw new KubeError('Timeout', 'no answer')
    }
    await clock.advance(60_000)
    expect(failed).toBe(true)
    expect(a.terms).toHaveLength(1)
    expect(a.leads()).toBe(true)
  })

  test('winning the lease without hearing of it still leads to a term', async () => {
    const api = new FakeKubeApi()
    const clock = new ManualClock()
    api.after = (request) => {
      if (request === 'create') throw new KubeError('Timeout', 'no answer')
    }
    const a = candidate(api, clock, 'a')
    await clock.advance(2_000)
    expect(a.leads()).toBe(true)
    expect(a.terms[0]?.transitions).toBe(0)
  })

  test('a stolen or deleted lease ends the term at once', async () => {
    for (const steal of [
      (api: FakeKubeApi) =>
        api.put(leases, {
          ...api.find(leases, lease),
          metadata: { name: 'operator', namespace: 'slipway' },
          spec: { holderIdentity: 'thief' },
        }),
      (api: FakeKubeApi) => api.remove(leases, lease),
    ]) {
      const api = new FakeKubeApi()
      const clock = new ManualClock()
      const a = candidate(api, clock, 'a')
      await clock.advance(100)
      steal(api)
      expect(a.terms[0]?.isCurrent()).toBe(false)
      expect(a.terms[0]?.signal.aborted).toBe(true)
    }
  })

  test('remote clocks do not matter: a record with a time stamp of long ago is respected', async () => {
    const api = new FakeKubeApi()
    const clock = new ManualClock('2031-01-01T00:00:00Z')
    const spec = { holderIdentity: 'other', leaseDurationSeconds: 15, renewTime: '2020-01-01T00:00:00.000000Z' }
    api.put(leases, { metadata: lease, spec })
    const a = candidate(api, clock, 'a')
    await clock.advance(14_900)
    expect(a.leads()).toBe(false)
    await clock.advance(200)
    expect(a.leads()).toBe(true)
  })

  test('stepping down hands over, and it campaigns again only after the pause', async () => {
    const api = new FakeKubeApi()
    const clock = new ManualClock()
    const a = candidate(api, clock, 'a')
    await clock.advance(100)
    await a.election.stepDown(20_000)
    await clock.advance(19_000)
    expect(a.leads()).toBe(false)
    expect(holder(api)).toBeNull()
    await clock.advance(2_000)
    expect(a.leads()).toBe(true)
  })

  test('work that fails gives the lease up and is tried again later', async () => {
    const api = new FakeKubeApi()
    const clock = new ManualClock()
    const log = new RecordingLog()
    const options = { api, clock, random: fixedRandom(), log, namespace: 'slipway', name: 'operator', identity: 'a' }
    const stop = new AbortController()
    let calls = 0
    const running = new LeaderElection(options).run(async () => {
      calls += 1
      throw new Error('boom')
    }, stop.signal)
    await clock.advance(16_000)
    expect(calls).toBe(4)
    expect(log.messages('error')).toHaveLength(4)
    stop.abort()
    await clock.advance(1)
    await running
    expect(clock.pendingTimers).toBe(0)
  })
})
