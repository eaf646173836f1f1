import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { node } from '../../test/cli/cli-fixture.ts'
import { FakeKubeApi } from '../../test/fakes/fake-kube-api.ts'
import { ManualClock } from '../../test/fakes/manual-clock.ts'
import { nodes } from '../api/kube.ts'
import { KubeError } from '../api/kube-error.ts'
import { followCollection, pause } from './follow-collection.ts'

const start = '2026-11-15T12:05:00Z'

describe('a followed collection', () => {
  it('keeps step with additions, changes and removals, and lists again after an expired watch', async () => {
    const api = new FakeKubeApi().put(nodes, node('a'))
    const clock = new ManualClock(start)
    const stop = new AbortController()
    const seen: string[] = []
    const following = followCollection(
      {
        ...{ api, clock, type: nodes, selection: {} },
        onChange: (objects) => seen.push([...objects.keys()].join(' ')),
        onTrouble: (error) => seen.push(error === undefined ? 'back' : 'away'),
      },
      stop.signal,
    )
    await clock.advance(0)
    api.put(nodes, node('b'))
    api.remove(nodes, { name: 'a' })
    api.breakWatches(new KubeError('Expired', 'too old'))
    await clock.advance(250)
    expect(seen).toEqual(['a', 'a b', 'b', 'b'])
    stop.abort()
    await following
    expect(getEventListeners(stop.signal, 'abort')).toEqual([])
  })

  it.each<[string, () => KubeError | undefined]>([
    ['ends in good order', () => undefined],
    ['calls expired', () => new KubeError('Expired', 'too old')],
  ])('does not hurry a server that %s each stream as soon as it is opened', async (_what, failure) => {
    const api = new FakeKubeApi().put(nodes, node('a'))
    let streams = 0
    api.watch = () => {
      streams += 1
      const error = failure()
      // Else this test would never end.
      if (streams > 1000) return new Promise(() => undefined)
      return error ? Promise.reject(error) : Promise.resolve()
    }
    const clock = new ManualClock(start)
    const stop = new AbortController()
    const seen: unknown[] = []
    const told = { onChange: () => undefined, onTrouble: (error: unknown) => seen.push(error) }
    const following = followCollection({ ...{ api, clock, type: nodes, selection: {} }, ...told }, stop.signal)
    await clock.advance(60_000)
    expect(streams).toBeGreaterThan(10)
    expect(streams).toBeLessThan(20)
    expect(seen).toEqual([])
    stop.abort()
    await following
  })

  it('takes a stream that lasted, or brought something, for a good one', async () => {
    const api = new FakeKubeApi().put(nodes, node('a'))
    const clock = new ManualClock(start)
    const stop = new AbortController()
    const told = { onChange: () => undefined, onTrouble: () => undefined }
    const following = followCollection({ ...{ api, clock, type: nodes, selection: {} }, ...told }, stop.signal)
    await clock.advance(1000)
    for (const watch of api.watches) watch.end()
    await clock.advance(0)
    api.put(nodes, node('b'))
    for (const watch of api.watches) watch.end()
    await clock.advance(0)
    expect(api.requests).toEqual(['list', 'watch', 'watch', 'watch'])
    stop.abort()
    await following
  })

  it('throws what trying again cannot mend', async () => {
    const api = new FakeKubeApi()
    api.failure = new KubeError('Forbidden', 'no')
    const untold = { onChange: () => undefined, onTrouble: () => undefined }
    const following = { ...{ api, clock: new ManualClock(start), type: nodes, selection: {} }, ...untold }
    await expect(followCollection(following, new AbortController().signal)).rejects.toThrow('no')
  })

  it('bears with a server that has just started and refuses whom it let in before, for a minute', async () => {
    const api = new FakeKubeApi().put(nodes, node('a'))
    const clock = new ManualClock(start)
    const seen: string[] = []
    const following = followCollection(
      {
        ...{ api, clock, type: nodes, selection: {} },
        onChange: (objects) => seen.push([...objects.keys()].join(' ')),
        onTrouble: (error) => seen.push(error === undefined ? 'back' : 'away'),
      },
      new AbortController().signal,
    )
    await clock.advance(0)
    api.failure = new KubeError('Forbidden', 'no')
    api.breakWatches(new KubeError('Unreachable', 'gone'))
    await clock.advance(10_000)
    api.failure = undefined
    await clock.advance(10_000)
    expect(seen.at(-1)).toBe('a')
    expect(seen).toContain('back')
    api.failure = new KubeError('Forbidden', 'no')
    api.breakWatches(new KubeError('Unreachable', 'gone'))
    const refused = expect(following).rejects.toThrow('no')
    for (let step = 0; step < 40; step++) await clock.advance(2_000)
    await refused
  })
})

describe('pause', () => {
  it('leaves neither timer nor listener behind, however it ends', async () => {
    const clock = new ManualClock(start)
    const stop = new AbortController()
    const first = pause(clock, 100, stop.signal)
    await clock.advance(100)
    await first
    expect(getEventListeners(stop.signal, 'abort')).toEqual([])
    const second = pause(clock, 100, stop.signal)
    stop.abort()
    await second
    await pause(clock, 100, stop.signal)
    expect(clock.pendingTimers).toBe(0)
  })
})
