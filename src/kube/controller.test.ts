import { setImmediate as settle } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { fixedRandom } from '../../test/fakes/fixed-random.ts'
import { ManualClock } from '../../test/fakes/manual-clock.ts'
import { RecordingLog } from '../../test/fakes/recording-log.ts'
import { KubeError } from '../api/kube-error.ts'
import { type Reconcile, runController } from './controller.ts'
import { WorkQueue } from './work-queue.ts'

function start(reconcile: Reconcile, workers = 1) {
  const clock = new ManualClock()
  const queue = new WorkQueue({ clock, random: fixedRandom(), baseMs: 100 })
  const log = new RecordingLog()
  const stop = new AbortController()
  const results: string[] = []
  const onResult = (key: string, outcome: string) => results.push(`${key} ${outcome}`)
  const running = runController({ name: 'test', queue, reconcile, workers, log, onResult }, stop.signal)
  return { clock, queue, log, stop, running, results }
}

describe('runController', () => {
  test('runs a key again after the time the reconcile asked for', async () => {
    let runs = 0
    const { clock, queue, stop, running } = start(async () => {
      runs += 1
      return runs === 1 ? { afterMs: 1_000 } : undefined
    })
    queue.add('a')
    await clock.advance(999)
    expect(runs).toBe(1)
    await clock.advance(5_000)
    expect(runs).toBe(2)
    stop.abort()
    await running
  })

  test.each([
    { error: new KubeError('Conflict', 'modified', { status: 409 }), warnings: 0 },
    { error: new KubeError('ServerError', 'boom', { status: 500 }), warnings: 1 },
    { error: new TypeError('a bug'), warnings: 1 },
  ])('retries after $error.message and warns $warnings times', async ({ error, warnings }) => {
    let runs = 0
    const { clock, queue, log, stop, running, results } = start(async () => {
      runs += 1
      if (runs === 1) throw error
      return undefined
    })
    queue.add('a')
    await clock.advance(200)
    expect(results).toEqual(['a retry', 'a ok'])
    expect(log.messages('warn')).toHaveLength(warnings)
    stop.abort()
    await running
  })

  test('waits as long as the server asked for', async () => {
    let runs = 0
    const { clock, queue, stop, running } = start(async () => {
      runs += 1
      throw new KubeError('TooManyRequests', 'later', { status: 429, retryAfterMs: 7_000 })
    })
    queue.add('a')
    await clock.advance(6_999)
    expect(runs).toBe(1)
    await clock.advance(1)
    expect(runs).toBe(2)
    stop.abort()
    await running
  })

  test('works on as many keys at once as there are workers, and ends when they have ended', async () => {
    const releases: (() => void)[] = []
    const { queue, stop, running } = start(() => {
      return new Promise((resolve) => releases.push(() => resolve(undefined)))
    }, 2)
    for (const key of ['a', 'b', 'c']) queue.add(key)
    await settle()
    expect(releases).toHaveLength(2)
    stop.abort()
    let ended = false
    const end = running.then(() => {
      ended = true
    })
    await settle()
    expect(ended).toBe(false)
    for (const release of releases) release()
    await end
    expect(ended).toBe(true)
  })
})
