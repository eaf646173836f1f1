import { afterAll, describe, expect, it } from 'vitest'
import { FakeKubeApi } from '../../../test/fakes/fake-kube-api.ts'
import { fixedRandom } from '../../../test/fakes/fixed-random.ts'
import { ManualClock } from '../../../test/fakes/manual-clock.ts'
import { RecordingLog } from '../../../test/fakes/recording-log.ts'
import { cronJobs, type Job, jobs } from '../../api/kube.ts'
import { KubeError } from '../../api/kube-error.ts'
import type { HookCall } from '../../core/hooks/hook-call.ts'
import { JobRuns } from '../gates/job-runs.ts'
import { SharedWatches } from '../gates/shared-watches.ts'
import { Hooks } from './hooks.ts'

const namespace = 'slipway-system'
const life = new AbortController()
const { signal } = life
afterAll(() => life.abort())

const call: HookCall = {
  ...{ key: 'k', hook: 'noout', when: 'BeforeNode', isCleanup: false, action: { job: { cronJob: 'set' } } },
  subject: { operation: 'op', update: 'op' },
  since: '2026-01-01T00:00:00Z',
  timeoutMs: 300_000,
}

/** A hook of five minutes, whose Job the server makes only after so long. */
function started(refusedMs: number) {
  const template = { spec: { template: { spec: { containers: [] } } } }
  const api = new FakeKubeApi().put(cronJobs, {
    metadata: { name: 'set', namespace },
    spec: { schedule: '@yearly', jobTemplate: template },
  })
  const clock = new ManualClock()
  let attempts = 0
  api.before = (verb) => {
    if (verb !== 'create') return
    attempts++
    if (clock.monotonicMs() < refusedMs) throw new KubeError('ServerError', 'etcdserver: leader changed')
  }
  api.after = (verb) => {
    if (verb === 'create') rewrite({ creationTimestamp: clock.now().toISOString() })
  }
  const rewrite = (metadata: Partial<Job['metadata']>, status: Job['status'] = {}) => {
    for (const job of api.stored(jobs)) api.put(jobs, { ...job, metadata: { ...job.metadata, ...metadata }, status })
  }
  const ports = { api, clock, random: fixedRandom(1), log: new RecordingLog() }
  const runs = new JobRuns(ports, new SharedWatches(ports, signal), namespace)
  const hooks = new Hooks(ports, runs, clock.now(), signal)
  hooks.start(call, () => undefined)
  return {
    ...{ api, hooks },
    /** The server is heard of every second. */
    passes: async (seconds: number) => {
      for (let second = 0; second < seconds; second++) {
        await clock.advance(1_000)
        api.bookmark()
      }
    },
    attempts: () => attempts,
    completes: () => rewrite({}, { conditions: [{ type: 'Complete', status: 'True' }] }),
  }
}

describe('a hook whose Job cannot be made', () => {
  it('is tried again, more and more seldom', async () => {
    const { passes, attempts } = started(300_000)
    await passes(16)
    expect(attempts()).toBe(5)
    await passes(180)
    expect(attempts()).toBe(11)
  })

  it('is tried for as long as it may take, and then failed with the cause', async () => {
    const { api, passes, hooks } = started(Number.POSITIVE_INFINITY)
    await passes(329)
    expect(hooks.outcome(call)).toEqual({ state: 'running' })
    await passes(2)
    expect(hooks.outcome(call)).toEqual({
      state: 'failed',
      message: `no Job can be made of CronJob ${namespace}/set: etcdserver: leader changed`,
    })
    expect(api.stored(jobs)).toEqual([])
  })

  it('has its whole time when it was made late', async () => {
    const { api, passes, hooks, completes } = started(270_000)
    await passes(550)
    expect(api.stored(jobs)).toHaveLength(1)
    expect(hooks.outcome(call)).toEqual({ state: 'running' })
    completes()
    await passes(1)
    expect(hooks.outcome(call)).toEqual({ state: 'succeeded' })
    expect(api.created).toHaveLength(1)
  })

  it('is given up when that is over', async () => {
    const { passes, hooks } = started(270_000)
    await passes(700)
    expect(hooks.outcome(call)).toEqual({ state: 'failed', message: 'its Job did not end within 300 s' })
  })
})
