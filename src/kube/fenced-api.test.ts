import { describe, expect, test } from 'vitest'
import { FakeKubeApi } from '../../test/fakes/fake-kube-api.ts'
import { type Node, nodes, pods } from '../api/kube.ts'
import type { KubeApi } from '../ports/kube-api.ts'
import { fencedApi } from './fenced-api.ts'

const { signal } = new AbortController()
const node: Node = { metadata: { name: 'n', uid: 'u', resourceVersion: '1', creationTimestamp: '' }, spec: {} }
const writes: Readonly<Record<string, (api: KubeApi) => Promise<unknown>>> = {
  create: (api) => api.create(nodes, node, signal),
  replace: (api) => api.replace(nodes, node, signal),
  patch: (api) => api.patch(nodes, { name: 'n' }, { type: 'merge', body: {} }, signal),
  delete: (api) => api.delete(nodes, { name: 'n' }, {}, signal),
  evict: (api) => api.evict({ name: 'n' }, {}, signal),
}

describe('fencedApi', () => {
  test.each(Object.entries(writes))('%s passes while current and is never sent afterwards', async (name, write) => {
    const api = new FakeKubeApi()
    if (name !== 'create') api.put(name === 'evict' ? pods : nodes, { metadata: { name: 'n', uid: 'u' } })
    let current = true
    const fenced = fencedApi(api, () => current)
    await write(fenced)
    expect(api.requests).toEqual([name])
    current = false
    await expect(write(fenced)).rejects.toMatchObject({ code: 'NotLeader' })
    expect(api.requests).toEqual([name])
  })

  test('reads pass', async () => {
    const api = new FakeKubeApi()
    const fenced = fencedApi(api, () => false)
    await fenced.list(nodes, {}, signal)
    await expect(fenced.get(nodes, { name: 'n' }, signal)).rejects.toMatchObject({ code: 'NotFound' })
    expect(api.requests).toEqual(['list', 'get'])
  })
})
