// Our client against a real API server: what the port promises.

import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { SystemClock } from '../../src/adapters/clock/system-clock.ts'
import { SystemRandom } from '../../src/adapters/random/system-random.ts'
import {
  type ConfigMap,
  configMaps,
  events,
  type Node,
  nodes,
  type Pod,
  podDisruptionBudgets,
  pods,
} from '../../src/api/kube.ts'
import { EventRecorder } from '../../src/kube/event-recorder.ts'
import type { Clock } from '../../src/ports/clock.ts'
import type { WatchEvent } from '../../src/ports/kube-api.ts'
import { type ApiServer, startApiServer } from '../bed/api-server.ts'
import { whyNoApiServer } from '../bed/programs.ts'
import { RecordingLog } from '../fakes/recording-log.ts'
import { type RealClient, realClient } from './real-client.ts'

const missing = await whyNoApiServer()
const namespace = 'default'
const { signal } = new AbortController()
let server: ApiServer
let client: RealClient

const configMap = (name: string, labels: Record<string, string> = {}) => ({ metadata: { name, namespace, labels } })
const pod = (name: string, labels: Record<string, string> = {}) => ({
  metadata: { name, namespace, labels },
  spec: { containers: [{ name: 'c', image: 'none' }] },
})

/** Time that runs faster, for what happens once a minute. */
function hastyClock(times: number): Clock {
  const clock = new SystemClock()
  return {
    now: () => clock.now(),
    monotonicMs: () => clock.monotonicMs() * times,
    after: (ms, callback) => clock.after(ms / times, callback),
  }
}

describe.skipIf(missing)('the client on a real API server', () => {
  beforeAll(async () => {
    server = await startApiServer({ controllers: false, audit: true })
    client = await realClient(server.kubeconfigPath)
  })

  afterAll(async () => {
    await client?.api.close()
    await server?.stop()
  })

  test('lists page by page, by label and by field', async () => {
    const { api } = client
    for (const name of ['a', 'b', 'c']) await api.create(configMaps, configMap(name, { page: 'yes' }), signal)
    const names: string[] = []
    let continueToken: string | undefined
    do {
      const options = { namespace, labelSelector: 'page=yes', limit: 2, ...(continueToken ? { continueToken } : {}) }
      const page = await api.list(configMaps, options, signal)
      names.push(...page.items.map((item) => item.metadata.name))
      continueToken = page.continueToken
    } while (continueToken !== undefined)
    expect(names).toEqual(['a', 'b', 'c'])
    const found = await api.list(configMaps, { fieldSelector: 'metadata.name=b' }, signal)
    expect(found.items).toHaveLength(1)
  })

  test('refuses unknown fields instead of losing them', async () => {
    const misspelt = { ...configMap('strict'), dta: { a: 'b' } }
    const write = client.api.create<ConfigMap>(configMaps, misspelt, signal)
    await expect(write).rejects.toMatchObject({
      code: 'Invalid',
      message: expect.stringContaining('unknown field "dta"'),
    })
  })

  test('a write with a stale version, another uid or a test that does not hold is a conflict', async () => {
    const { api } = client
    const made = await api.create<Node>(nodes, { metadata: { name: 'n1' }, spec: {} }, signal)
    const ref = { name: 'n1' }
    const cordon = [{ op: 'add', path: '/spec/unschedulable', value: true }] as const
    const seen = { op: 'test', path: '/metadata/uid', value: made.metadata.uid } as const
    const changed = await api.patch(nodes, ref, { type: 'json', operations: [seen, ...cordon] }, signal)
    expect(changed.spec.unschedulable).toBe(true)

    const stale = { metadata: { resourceVersion: made.metadata.resourceVersion, labels: { a: 'b' } } }
    const otherUid = { metadata: { uid: '00000000-0000-4000-8000-000000000000', labels: { a: 'b' } } }
    const failing = { op: 'test', path: '/spec/unschedulable', value: false } as const
    const absent = { op: 'test', path: '/metadata/annotations/none', value: 'x' } as const
    const attempts = [
      () => api.replace(nodes, made, signal),
      () => api.patch(nodes, ref, { type: 'merge', body: stale }, signal),
      () => api.patch(nodes, ref, { type: 'merge', body: otherUid }, signal),
      () => api.patch(nodes, ref, { type: 'json', operations: [failing, ...cordon] }, signal),
      () => api.patch(nodes, ref, { type: 'json', operations: [absent, ...cordon] }, signal),
      () => api.delete(nodes, ref, { uid: 'another' }, signal),
      () => api.delete(nodes, ref, { resourceVersion: made.metadata.resourceVersion }, signal),
    ]
    for (const attempt of attempts) await expect(attempt()).rejects.toMatchObject({ code: 'Conflict' })
    const malformed = api.patch(nodes, ref, { type: 'json', operations: [{ op: 'remove', path: '/spec/no' }] }, signal)
    await expect(malformed).rejects.toMatchObject({ code: 'Invalid' })
    await expect(api.create(nodes, { metadata: { name: 'n1' }, spec: {} }, signal)).rejects.toMatchObject({
      code: 'AlreadyExists',
    })
    await api.delete(nodes, ref, { uid: made.metadata.uid }, signal)
    await expect(api.get(nodes, ref, signal)).rejects.toMatchObject({ code: 'NotFound', status: 404 })
  })

  test('status is a sub-resource of its own', async () => {
    const { api } = client
    await api.create<Node>(nodes, { metadata: { name: 'n2' }, spec: {} }, signal)
    const status = { conditions: [{ type: 'Ready', status: 'True' }] }
    const spec = { unschedulable: true }
    const patch = { type: 'merge', body: { status } } as const
    const written = await api.patch(nodes, { name: 'n2' }, patch, signal, 'status')
    expect(written.status?.conditions).toMatchObject(status.conditions)
    expect(written.spec.unschedulable).toBeUndefined()
    const replaced = await api.replace(nodes, { ...written, spec, status: {} }, signal)
    expect(replaced.status?.conditions).toHaveLength(1)
    expect(replaced.spec.unschedulable).toBe(true)
  })

  test('a watch shows first the state, then each change, with characters of every size', async () => {
    const { api } = client
    await api.create(
      configMaps,
      { ...configMap('w1', { watched: 'yes' }), data: { text: 'grüße 🚢'.repeat(20_000) } },
      signal,
    )
    const stop = new AbortController()
    const seenEvents: WatchEvent<ConfigMap>[] = []
    const seen = Promise.withResolvers<void>()
    const options = { namespace, labelSelector: 'watched=yes', initialEvents: true }
    const watching = api.watch(
      configMaps,
      options,
      (event) => {
        seenEvents.push(event)
        if (event.type === 'BOOKMARK' && event.initialEventsEnd) {
          void api.delete(configMaps, { name: 'w1', namespace }, {}, signal)
        }
        if (event.type === 'DELETED') seen.resolve()
      },
      stop.signal,
    )
    await seen.promise
    stop.abort(new Error('enough'))
    await expect(watching).rejects.toThrow('enough')
    expect(seenEvents.map((event) => event.type)).toEqual(['ADDED', 'BOOKMARK', 'DELETED'])
    const [first] = seenEvents
    expect(first?.type === 'ADDED' && first.object.data?.text).toBe('grüße 🚢'.repeat(20_000))
  })

  test('a watch the server ends in good order resolves', async () => {
    const page = await client.api.list(configMaps, { namespace }, signal)
    const options = { namespace, resourceVersion: page.resourceVersion, timeoutSeconds: 1 }
    await expect(client.api.watch(configMaps, options, () => {}, signal)).resolves.toBeUndefined()
  })

  // The API server itself tries for ten seconds to evict a pod whose uid does not match.
  test('an eviction is carried out, held back by a budget, or refused for another pod of that name', async () => {
    const { api } = client
    const free = await api.create<Pod>(pods, pod('free'), signal)
    const ref = { name: 'free', namespace }
    await expect(api.evict(ref, { uid: 'another' }, signal)).rejects.toMatchObject({ code: 'Conflict' })
    await api.evict(ref, { uid: free.metadata.uid, gracePeriodSeconds: 0 }, signal)
    await expect(api.get(pods, ref, signal)).rejects.toMatchObject({ code: 'NotFound' })

    const selector = { matchLabels: { app: 'held' } }
    const budget = { metadata: { name: 'held', namespace }, spec: { maxUnavailable: 0, selector } }
    await api.create(podDisruptionBudgets, budget, signal)
    await api.create<Pod>(pods, pod('held', { app: 'held' }), signal)
    // Only a running pod is protected.
    const running = { type: 'merge', body: { status: { phase: 'Running' } } } as const
    await api.patch(pods, { name: 'held', namespace }, running, signal, 'status')
    client.requests.length = 0
    await expect(api.evict({ name: 'held', namespace }, {}, signal)).rejects.toMatchObject({
      code: 'TooManyRequests',
      causes: [{ reason: 'DisruptionBudget' }],
    })
    expect(client.requests.map(({ verb, status }) => `${verb} ${status}`)).toEqual(['evict 429'])
  })

  test('what has been compacted away is Expired: a page’s continuation, and a watch from long ago', async () => {
    const { api } = client
    const page = await api.list(configMaps, { namespace, limit: 1 }, signal)
    const token = page.continueToken ?? ''
    expect(token).not.toBe('')
    const { resourceVersion } = (await api.create(configMaps, configMap('newer'), signal)).metadata
    await fetch(`${server.etcdUrl}/v3/kv/compaction`, {
      method: 'POST',
      body: JSON.stringify({ revision: resourceVersion }),
    })
    // A server that has just started has none of the old states in memory.
    await server.restartApi()
    const next = api.list(configMaps, { namespace, limit: 1, continueToken: token }, signal)
    await expect(next).rejects.toMatchObject({ code: 'Expired', status: 410 })
    const watching = api.watch(configMaps, { namespace, resourceVersion: '1' }, () => {}, AbortSignal.timeout(10_000))
    await expect(watching).rejects.toMatchObject({ code: 'Expired', status: 410 })
  })

  test('events are taken as they are, and repeated ones counted', async () => {
    const { api } = client
    const stop = new AbortController()
    const recorder = new EventRecorder({
      api,
      clock: hastyClock(1_000),
      random: new SystemRandom(),
      log: new RecordingLog(),
      controller: 'slipway.dev/operator',
      instance: 'operator-0',
      namespace,
    })
    const running = recorder.run(stop.signal)
    const regarding = { apiVersion: 'v1', kind: 'Node', name: 'n2', uid: 'u' }
    const say = () => recorder.record({ regarding, type: 'Normal', reason: 'Planned', action: 'Plan', note: 'well' })
    const sent = async () => (await api.list(events, { fieldSelector: 'reason=Planned' }, signal)).items
    say()
    await vi.waitFor(async () => expect(await sent()).toHaveLength(1), 60_000)
    say()
    say()
    await vi.waitFor(async () => expect(await sent()).toMatchObject([{ note: 'well', series: { count: 3 } }]), 60_000)
    stop.abort()
    await running
  })

  test('the audit log shows what was asked, by whom', async () => {
    const line = (await readFile(server.auditLogPath, 'utf8'))
      .split('\n')
      .find((text) => text.includes('"verb":"create"') && text.includes('slipway/test'))
    expect(JSON.parse(line ?? '{}')).toMatchObject({
      userAgent: 'slipway/test (apiserver)',
      responseStatus: { code: 201 },
    })
  })

  test('says its version', async () => {
    expect(await client.api.serverVersion(signal)).toMatch(/^v1\.\d+\.\d+/)
  })
})
