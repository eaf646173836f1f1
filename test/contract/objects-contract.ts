import { expect, it } from 'vitest'
import { configMaps, deployments, namespaces, pods } from '../../src/api/kube.ts'
import type { JsonPatchOperation } from '../../src/ports/kube-api.ts'
import { type ContractBed, never, nowhere } from './contract-bed.ts'

const bindings = { apiVersion: 'v1', kind: 'Binding', plural: 'bindings', namespaced: true } as const

/** Creating, reading, changing: versions, preconditions, sub-resources, selectors, pages. */
export function objectsContract(bed: () => ContractBed): void {
  const configMap = (name: string, data: Record<string, string> = { a: '1' }) =>
    bed().api.create(configMaps, { metadata: bed().ref(name), data }, never)

  it('fills in uid, version and time, and hands the object out again', async () => {
    const made = await configMap('one')
    expect(made.metadata).toMatchObject({ name: 'one', namespace: bed().namespace })
    expect(made.metadata.uid).toMatch(/^[0-9a-f-]{36}$/)
    expect(made.metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    const read = await bed().api.get(configMaps, bed().ref('one'), never)
    expect(read.metadata.resourceVersion).toBe(made.metadata.resourceVersion)
    expect(read.data).toEqual({ a: '1' })
  })

  it('makes names from generateName', async () => {
    const metadata = { generateName: 'made-', namespace: bed().namespace }
    const first = await bed().api.create(configMaps, { metadata }, never)
    const second = await bed().api.create(configMaps, { metadata }, never)
    expect(first.metadata.name).toMatch(/^made-[a-z0-9]{5}$/)
    expect(second.metadata.name).not.toBe(first.metadata.name)
  })

  it('refuses a second object of one name, one that is not there, and a namespace that is not there', async () => {
    await configMap('one')
    await expect(configMap('one')).rejects.toMatchObject({ code: 'AlreadyExists', status: 409 })
    await expect(bed().api.get(configMaps, bed().ref('two'), never)).rejects.toMatchObject({ code: 'NotFound' })
    const metadata = { name: 'one', namespace: 'contract-no-such-namespace' }
    await expect(bed().api.create(configMaps, { metadata }, never)).rejects.toMatchObject({ code: 'NotFound' })
  })

  it('replaces only what has not changed since it was read', async () => {
    const first = await configMap('one')
    const second = await bed().api.replace(configMaps, { ...first, data: { a: '2' } }, never)
    expect(Number(second.metadata.resourceVersion)).toBeGreaterThan(Number(first.metadata.resourceVersion))
    const stale = bed().api.replace(configMaps, { ...first, data: { a: '3' } }, never)
    await expect(stale).rejects.toMatchObject({ code: 'Conflict', status: 409 })
    expect((await bed().api.get(configMaps, bed().ref('one'), never)).data).toEqual({ a: '2' })
  })

  it('does not count a write that changes nothing', async () => {
    const made = await configMap('one')
    const same = await bed().api.patch(
      configMaps,
      bed().ref('one'),
      { type: 'merge', body: { data: { a: '1' } } },
      never,
    )
    expect(same.metadata.resourceVersion).toBe(made.metadata.resourceVersion)
  })

  it('keeps an immutable ConfigMap as it is', async () => {
    await bed().api.create(configMaps, { metadata: bed().ref('fixed'), immutable: true, data: { a: '1' } }, never)
    const change = bed().api.patch(configMaps, bed().ref('fixed'), { type: 'merge', body: { data: { a: '2' } } }, never)
    await expect(change).rejects.toMatchObject({ code: 'Invalid', status: 422 })
  })

  it('counts generations by the spec alone', async () => {
    const labels = { app: 'none' }
    const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'none' }] } }
    const spec = { replicas: 0, selector: { matchLabels: labels }, template }
    const made = await bed().api.create(deployments, { metadata: bed().ref('none'), spec }, never)
    expect(made.metadata.generation).toBe(1)
    const patch = (body: Record<string, unknown>, subResource?: 'status') =>
      bed().api.patch(deployments, bed().ref('none'), { type: 'merge', body }, never, subResource)
    expect((await patch({ metadata: { labels: { b: 'c' } } })).metadata.generation).toBe(1)
    expect((await patch({ status: { collisionCount: 1 } }, 'status')).metadata.generation).toBe(1)
    expect((await patch({ spec: { paused: true } })).metadata.generation).toBe(2)
  })

  it('keeps status and the rest apart', async () => {
    const spec = { nodeName: nowhere, containers: [{ name: 'main', image: 'none' }] }
    const given = { metadata: bed().ref('pod'), spec, status: { phase: 'Running' } } as const
    const made = await bed().api.create(pods, given, never)
    expect(made.status?.phase).toBe('Pending')
    const patch = (body: Record<string, unknown>, subResource?: 'status') =>
      bed().api.patch(pods, bed().ref('pod'), { type: 'merge', body }, never, subResource)
    expect((await patch({ metadata: { labels: { a: 'b' } }, status: { phase: 'Running' } })).status?.phase).toBe(
      'Pending',
    )
    const changed = await patch(
      { spec: { tolerations: [{ operator: 'Exists' }] }, status: { phase: 'Running' } },
      'status',
    )
    expect(changed.status?.phase).toBe('Running')
    expect(changed.spec.tolerations ?? []).not.toContainEqual({ operator: 'Exists' })
  })

  it.each([
    ['team=red', ['a', 'b']],
    ['team!=red', ['c', 'd']],
    ['team in (red,blue)', ['a', 'b', 'c']],
    ['team notin (red)', ['c', 'd']],
    ['team', ['a', 'b', 'c']],
    ['!team', ['d']],
    ['team=red,size=big', ['a']],
  ])('selects by labels: %s', async (labelSelector, expected) => {
    const labels = { a: { team: 'red', size: 'big' }, b: { team: 'red' }, c: { team: 'blue' }, d: { other: 'x' } }
    for (const [name, own] of Object.entries(labels)) {
      await bed().api.create(configMaps, { metadata: { ...bed().ref(name), labels: { ...own, mine: 'yes' } } }, never)
    }
    const selector = `${labelSelector},mine=yes`
    const page = await bed().api.list(configMaps, { namespace: bed().namespace, labelSelector: selector }, never)
    expect(page.items.map((item) => item.metadata.name)).toEqual(expected)
  })

  it('selects by fields', async () => {
    await bed().pod('here')
    await bed().pod('waiting', { phase: 'Pending' })
    const names = async (fieldSelector: string) => {
      const page = await bed().api.list(pods, { namespace: bed().namespace, fieldSelector }, never)
      return page.items.map((item) => item.metadata.name)
    }
    expect(await names('metadata.name=here')).toEqual(['here'])
    expect(await names(`spec.nodeName=${nowhere}`)).toEqual(['here', 'waiting'])
    expect(await names('spec.nodeName=elsewhere')).toEqual([])
    expect(await names('status.phase=Running')).toEqual(['here'])
    expect(await names(`spec.nodeName=${nowhere},status.phase!=Running`)).toEqual(['waiting'])
    await expect(names('spec.nonsense=1')).rejects.toMatchObject({ code: 'Invalid', status: 400 })
  })

  it('hands lists out in pages of one moment', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      await bed().api.create(configMaps, { metadata: { ...bed().ref(name), labels: { paged: 'yes' } } }, never)
    }
    const options = { namespace: bed().namespace, labelSelector: 'paged=yes', limit: 2 }
    const first = await bed().api.list(configMaps, options, never)
    expect(first.items.map((item) => item.metadata.name)).toEqual(['a', 'b'])
    await bed().api.delete(configMaps, bed().ref('d'), {}, never)
    const rest: string[] = []
    let { continueToken } = first
    while (continueToken !== undefined) {
      const page = await bed().api.list(configMaps, { ...options, continueToken }, never)
      expect(page.resourceVersion).toBe(first.resourceVersion)
      rest.push(...page.items.map((item) => item.metadata.name))
      continueToken = page.continueToken
    }
    expect(rest).toEqual(['c', 'd', 'e'])
  })

  it('applies a JSON patch as a whole, or not at all', async () => {
    const made = await configMap('one', { a: '1', b: '2' })
    const patch = (...operations: readonly JsonPatchOperation[]) =>
      bed().api.patch(configMaps, bed().ref('one'), { type: 'json', operations }, never)
    const changed = await patch(
      { op: 'test', path: '/metadata/resourceVersion', value: made.metadata.resourceVersion },
      { op: 'test', path: '/data/a', value: '1' },
      { op: 'replace', path: '/data/a', value: '9' },
      { op: 'remove', path: '/data/b' },
      { op: 'add', path: '/metadata/annotations', value: {} },
      { op: 'add', path: '/metadata/annotations/slipway.dev~1mark', value: 'x' },
    )
    expect(changed.data).toEqual({ a: '9' })
    expect(changed.metadata.annotations).toMatchObject({ 'slipway.dev/mark': 'x' })
    const failing = patch({ op: 'replace', path: '/data/a', value: '0' }, { op: 'test', path: '/data/a', value: '1' })
    await expect(failing).rejects.toMatchObject({ code: 'Conflict' })
    const stale = patch({ op: 'test', path: '/metadata/resourceVersion', value: made.metadata.resourceVersion })
    await expect(stale).rejects.toMatchObject({ code: 'Conflict' })
    await expect(patch({ op: 'test', path: '/data/none/deep', value: 1 })).rejects.toMatchObject({ code: 'Conflict' })
    expect((await bed().api.get(configMaps, bed().ref('one'), never)).data).toEqual({ a: '9' })
  })

  it('merges a patch, null removes, and preconditions hold', async () => {
    const made = await configMap('one', { a: '1', b: '2' })
    const patch = (body: Record<string, unknown>) =>
      bed().api.patch(configMaps, bed().ref('one'), { type: 'merge', body }, never)
    const { uid, resourceVersion } = made.metadata
    const changed = await patch({ metadata: { uid, resourceVersion }, data: { a: null, c: '3' } })
    expect(changed.data).toEqual({ b: '2', c: '3' })
    await expect(patch({ metadata: { resourceVersion }, data: { d: '4' } })).rejects.toMatchObject({ code: 'Conflict' })
    const other = '00000000-0000-4000-8000-000000000000'
    await expect(patch({ metadata: { uid: other }, data: { d: '4' } })).rejects.toMatchObject({ code: 'Conflict' })
    expect((await bed().api.get(configMaps, bed().ref('one'), never)).data).toEqual({ b: '2', c: '3' })
  })

  it('gives a pod its node by a Binding, once, and in no other way', async () => {
    const spec = { schedulerName: 'nobody', containers: [{ name: 'main', image: 'none' }] }
    await bed().api.create(pods, { metadata: bed().ref('pod'), spec }, never)
    const set = bed().api.patch(pods, bed().ref('pod'), { type: 'merge', body: { spec: { nodeName: 'x' } } }, never)
    await expect(set).rejects.toMatchObject({ code: 'Invalid', status: 422 })
    const bind = (name: string) => {
      const binding = { metadata: bed().ref('pod'), target: { apiVersion: 'v1', kind: 'Node', name } }
      return bed().api.create(bindings, binding, never)
    }
    await bind(nowhere)
    expect((await bed().api.get(pods, bed().ref('pod'), never)).spec.nodeName).toBe(nowhere)
    await expect(bind('other')).rejects.toMatchObject({ code: 'Conflict' })
  })

  it('empties a namespace that is deleted', async () => {
    const other = await bed().api.create(namespaces, { metadata: { generateName: 'contract-' } }, never)
    const { name } = other.metadata
    await bed().api.create(configMaps, { metadata: { name: 'one', namespace: name } }, never)
    await bed().api.delete(namespaces, { name }, {}, never)
    await bed().eventually(namespaces, { name }, (found) => found === undefined)
    expect(await bed().find(configMaps, { name: 'one', namespace: name })).toBeUndefined()
  })

  it('says its version', async () => {
    expect(await bed().api.serverVersion(never)).toMatch(/^v1\.\d+\.\d+/)
  })

  it('shows its pages of plain text line by line', async () => {
    const read = async (path: string) => {
      const lines: string[] = []
      await bed().api.readLines(path, (line) => lines.push(line), never)
      return lines
    }
    expect((await read('/readyz?verbose')).at(-1)).toBe('readyz check passed')
    expect(await read('/metrics')).not.toContain('')
    await expect(read('/no-such-page')).rejects.toMatchObject({ code: 'NotFound' })
  })
}
