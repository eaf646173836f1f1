import { getEventListeners } from 'node:events'
import { describe, expect, test } from 'vitest'
import { fixedRandom } from '../../test/fakes/fixed-random.ts'
import { ManualClock } from '../../test/fakes/manual-clock.ts'
import { WorkQueue } from './work-queue.ts'

function setUp() {
  const clock = new ManualClock()
  const queue = new WorkQueue({ clock, random: fixedRandom(1), baseMs: 100, maxMs: 1_000 })
  const { signal } = new AbortController()
  const taken: string[] = []
  /** Takes everything that is there now. */
  const takeAll = async () => {
    while (queue.depth > 0) {
      const key = await queue.get(signal)
      if (key === undefined) return
      taken.push(key)
      queue.done(key)
    }
  }
  return { clock, queue, signal, taken, takeAll }
}

describe('WorkQueue', () => {
  test('a key added twice is worked on once, in the order of the first', async () => {
    const { queue, taken, takeAll } = setUp()
    for (const key of ['a', 'b', 'a']) queue.add(key)
    await takeAll()
    expect(taken).toEqual(['a', 'b'])
  })

  test('a key that failed waits, also when it was asked for while in work', async () => {
    const { clock, queue, signal } = setUp()
    queue.add('a')
    expect(await queue.get(signal)).toBe('a')
    queue.add('a')
    queue.addRateLimited('a')
    queue.done('a')
    expect(queue.depth).toBe(0)
    await clock.advance(200)
    expect(queue.depth).toBe(1)
  })

  test('a key is never in work twice; added meanwhile, it comes again afterwards', async () => {
    const { queue, signal } = setUp()
    queue.add('a')
    expect(await queue.get(signal)).toBe('a')
    queue.add('a')
    queue.add('a')
    expect(queue.depth).toBe(0)
    queue.done('a')
    expect(queue.depth).toBe(1)
  })

  test('takers wait for their own end, and leave one listener on it however often they wait', async () => {
    const { queue } = setUp()
    const [first, second] = [new AbortController(), new AbortController()]
    for (const key of ['a', 'b']) {
      const taken = queue.get(first.signal)
      queue.add(key)
      expect(await taken).toBe(key)
      queue.done(key)
    }
    expect(getEventListeners(first.signal, 'abort')).toHaveLength(1)
    const waiting = [queue.get(first.signal), queue.get(second.signal)]
    first.abort()
    expect(await waiting[0]).toBeUndefined()
    queue.add('c')
    expect(await waiting[1]).toBe('c')
  })

  test.each([
    { first: 500, second: 200, dueMs: 200 },
    { first: 200, second: 500, dueMs: 200 },
  ])(
    'of two waits ($first and $second) the earliest wins, and only one is served',
    async ({ first, second, dueMs }) => {
      const { clock, queue, taken, takeAll } = setUp()
      queue.addAfter('a', first)
      queue.addAfter('a', second)
      await clock.advance(dueMs - 1)
      expect(queue.depth).toBe(0)
      await clock.advance(1)
      expect(queue.depth).toBe(1)
      await takeAll()
      await clock.advance(1_000)
      await takeAll()
      expect(taken).toEqual(['a'])
      expect(clock.pendingTimers).toBe(0)
    },
  )

  test('failures wait ever longer up to the cap, until forgotten', async () => {
    const { clock, queue } = setUp()
    const waits: number[] = []
    for (let i = 0; i < 6; i += 1) {
      if (i === 5) queue.forget('a')
      queue.addRateLimited('a')
      const startedMs = clock.monotonicMs()
      while (queue.depth === 0) await clock.advance(50)
      waits.push(clock.monotonicMs() - startedMs)
      queue.done((await queue.get(new AbortController().signal)) ?? '')
    }
    expect(waits).toEqual([100, 200, 400, 800, 1_000, 100])
  })

  test('a waiting taker gets the key; an aborted one gets nothing and leaves no listener', async () => {
    const { clock, queue } = setUp()
    const stopped = new AbortController()
    const first = queue.get(stopped.signal)
    const second = queue.get(new AbortController().signal)
    stopped.abort()
    expect(await first).toBeUndefined()
    queue.addAfter('a', 10)
    await clock.advance(10)
    expect(await second).toBe('a')
  })

  test('keeps its order through thousands of keys', async () => {
    const { queue, taken, takeAll } = setUp()
    const keys = Array.from({ length: 5_000 }, (_, i) => `k${i}`)
    for (const key of keys) queue.add(key)
    await takeAll()
    expect(taken).toEqual(keys)
  })
})
