import { setImmediate as settle } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { FakeKubeApi } from '../../test/fakes/fake-kube-api.ts'
import { fixedRandom } from '../../test/fakes/fixed-random.ts'
import { ManualClock } from '../../test/fakes/manual-clock.ts'
import { RecordingLog } from '../../test/fakes/recording-log.ts'
import { type Node, nodes } from '../api/kube.ts'
import { KubeError } from '../api/kube-error.ts'
import type { WatchOptions } from '../ports/kube-api.ts'
import { Reflector } from './reflector.ts'
import { Store } from './store.ts'

const cleanUps: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp()
})

function start(options: { api?: FakeKubeApi; streamingList?: boolean; transform?: (node: Node) => Node } = {}) {
  const { api = new FakeKubeApi(), ...rest } = options
  const clock = new ManualClock()
  const log = new RecordingLog()
  const store = new Store<Node>()
  const changes: string[] = []
  store.subscribe((change) => changes.push(`${change.type} ${change.key}`))
  const reflector = new Reflector({ api, type: nodes, store, clock, random: fixedRandom(0), log, ...rest })
  const stop = new AbortController()
  const running = reflector.run(stop.signal)
  cleanUps.push(async () => {
    stop.abort()
    await running
    expect(clock.pendingTimers).toBe(0)
  })
  return { api, clock, log, store, changes, reflector, stop, running }
}

const names = (store: Store<Node>) => [...store.values()].map((node) => node.metadata.name).toSorted()

describe('Reflector', () => {
  test.each([
    { streamingList: true, requests: ['watch'] },
    { streamingList: false, requests: ['list', 'list', 'watch'] },
  ])('gets the whole state, then follows it (streaming: $streamingList)', async ({ streamingList, requests }) => {
    const api = new FakeKubeApi()
    api.pageSize = 2
    for (const name of ['a', 'b', 'c']) api.put(nodes, { metadata: { name } })
    const { store, reflector } = start({ api, streamingList })
    await reflector.synced(AbortSignal.timeout(1_000))
    expect(names(store)).toEqual(['a', 'b', 'c'])
    await settle()
    api.put(nodes, { metadata: { name: 'd' } })
    api.remove(nodes, { name: 'a' })
    expect(names(store)).toEqual(['b', 'c', 'd'])
    expect(api.requests).toEqual(requests)
  })

  test('where a streaming list is not served it lists, and never asks for one again', async () => {
    const api = new FakeKubeApi()
    api.put(nodes, { metadata: { name: 'a' } })
    const asked: WatchOptions[] = []
    api.before = (request, _type, options) => {
      if (request === 'watch' && options !== undefined) asked.push(options)
      if (options?.initialEvents === true) {
        throw new KubeError('Invalid', 'sendInitialEvents: Forbidden', { status: 422 })
      }
    }
    const { clock, store, log } = start({ api })
    await settle()
    expect(names(store)).toEqual(['a'])
    api.watches[0]?.fail(new KubeError('Expired', 'too old', { status: 410 }))
    await clock.advance(1_000)
    expect(asked.map((options) => options.initialEvents === true)).toEqual([true, false, false])
    expect(log.messages('warn')).toEqual([])
  })

  test('a broken watch goes on from the last version, a bookmark’s too, without a list', async () => {
    const { api, clock, store } = start({ streamingList: false })
    await settle()
    api.put(nodes, { metadata: { name: 'a' } })
    api.bookmark('77')
    api.watches[0]?.fail(new KubeError('Unreachable', 'reset'))
    await clock.advance(100)
    expect(api.watches[0]?.options.resourceVersion).toBe('77')
    expect(api.requests).toEqual(['list', 'watch', 'watch'])
    expect(names(store)).toEqual(['a'])
  })

  test('after Expired it asks for everything again and finds what is gone', async () => {
    const { api, clock, store, changes } = start()
    api.put(nodes, { metadata: { name: 'a' } })
    api.put(nodes, { metadata: { name: 'b' } })
    await settle()
    const [watch] = api.watches
    api.watches = []
    api.remove(nodes, { name: 'a' })
    watch?.fail(new KubeError('Expired', 'too old', { status: 410 }))
    await clock.advance(100)
    expect(names(store)).toEqual(['b'])
    expect(changes.at(-1)).toBe('removed a')
  })

  test('a silent watch is taken for dead, one with bookmarks is not', async () => {
    const { api, clock, reflector } = start({ streamingList: false })
    await settle()
    for (let minute = 0; minute < 5; minute += 1) {
      await clock.advance(60_000)
      api.bookmark()
    }
    expect(api.requests).toEqual(['list', 'watch'])
    expect(reflector.silentMs()).toBe(0)
    await clock.advance(89_000)
    expect(reflector.silentMs()).toBe(89_000)
    expect(api.requests).toHaveLength(2)
    await clock.advance(2_000)
    expect(api.requests).toEqual(['list', 'watch', 'watch'])
  })

  test('never gives up: ever longer waits up to 30 s, quick again after success', async () => {
    const { api, clock, log } = start({ streamingList: false })
    await settle()
    let down = true
    const at: number[] = []
    api.before = (request) => {
      at.push(clock.monotonicMs())
      if (down && request === 'watch') throw new KubeError('Unreachable', 'refused')
    }
    api.watches[0]?.fail(new KubeError('Unreachable', 'reset'))
    await clock.advance(600_000)
    const gaps = at.slice(1).map((ms, i) => ms - (at[i] ?? 0))
    expect(gaps.slice(0, 4)).toEqual([100, 200, 400, 800])
    expect(Math.max(...gaps)).toBe(15_000)
    expect(log.messages('warn')).toHaveLength(1)
    down = false
    await clock.advance(15_000)
    api.bookmark()
    expect(log.messages('info')).toContain('watch is well again')
    api.watches[0]?.fail(new KubeError('Unreachable', 'reset'))
    const requests = at.length
    await clock.advance(50)
    expect(at.length).toBe(requests + 1)
  })

  test('a server that ends streams at once does not make it spin', async () => {
    const { api, clock } = start({ streamingList: false })
    await settle()
    const watch = api.watch.bind(api)
    api.watch = async (type, options, onEvent, signal) => {
      const open = watch(type, options, onEvent, signal)
      api.watches.at(-1)?.end()
      return open
    }
    api.watches[0]?.end()
    await clock.advance(10_000)
    expect(api.requests.length).toBeLessThan(12)
  })

  test('a bookmark from the past means that the server was restored: everything is asked for again', async () => {
    const { api, clock } = start({ streamingList: false })
    api.put(nodes, { metadata: { name: 'a' } })
    await settle()
    api.bookmark('900')
    api.bookmark('500')
    await clock.advance(100)
    expect(api.requests).toEqual(['list', 'watch', 'list', 'watch'])
  })

  test('objects are transformed on arrival, page by page', async () => {
    const api = new FakeKubeApi()
    api.pageSize = 1
    for (const name of ['a', 'b']) api.put(nodes, { metadata: { name }, spec: {}, status: { capacity: { cpu: '1' } } })
    const order: string[] = []
    api.before = (request) => order.push(request)
    const transform = (node: Node): Node => {
      order.push(node.metadata.name)
      return { metadata: node.metadata, spec: node.spec }
    }
    const { store } = start({ api, streamingList: false, transform })
    await settle()
    expect(order).toEqual(['list', 'a', 'list', 'b', 'watch'])
    api.put(nodes, { metadata: { name: 'c' }, spec: {}, status: {} })
    expect([...store.values()].some((node) => 'status' in node)).toBe(false)
  })

  test('waiting for the first state can be given up', async () => {
    const api = new FakeKubeApi()
    api.before = () => {
      throw new KubeError('Unreachable', 'refused')
    }
    const { reflector } = start({ api })
    const stop = new AbortController()
    const waiting = reflector.synced(stop.signal)
    stop.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
  })

  test('idle, it costs one request in five to ten minutes', async () => {
    const { api, clock } = start()
    await settle()
    for (let minute = 0; minute < 60; minute += 1) {
      await clock.advance(60_000)
      api.bookmark()
      if (minute % 5 === 4) api.watches[0]?.end()
    }
    expect(api.requests.length).toBeLessThanOrEqual(13)
  })
})
