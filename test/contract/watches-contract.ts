import { expect, it } from 'vitest'
import type { ConfigMap } from '../../src/api/kube.ts'
import { configMaps } from '../../src/api/kube.ts'
import type { WatchEvent } from '../../src/ports/kube-api.ts'
import { type ContractBed, never } from './contract-bed.ts'

/** Watching: order, selectors, initial state, bookmarks, forgotten history. */
export function watchesContract(bed: () => ContractBed, forgetHistory: () => Promise<void>): void {
  const labelled = (name: string, labels: Record<string, string>) =>
    bed().api.create(configMaps, { metadata: { ...bed().ref(name), labels } }, never)
  const relabel = (name: string, labels: Record<string, string | null>) =>
    bed().api.patch(configMaps, bed().ref(name), { type: 'merge', body: { metadata: { labels } } }, never)
  const told = (events: readonly { readonly type: string; readonly object: ConfigMap }[]) =>
    events.map(({ type, object }) => `${type} ${object.metadata.name}`)

  it('tells of each change in order, and of nothing before the version', async () => {
    await labelled('before', { w: '1' })
    const events = await bed().events(configMaps, { labelSelector: 'w=1' }, 4, async () => {
      await labelled('one', { w: '1' })
      await labelled('two', { w: '1' })
      await relabel('one', { x: 'y' })
      await bed().api.delete(configMaps, bed().ref('two'), {}, never)
    })
    expect(told(events)).toEqual(['ADDED one', 'ADDED two', 'MODIFIED one', 'DELETED two'])
    const versions = events.map(({ object }) => Number(object.metadata.resourceVersion))
    expect(versions).toEqual([...versions].sort((a, b) => a - b))
    expect(new Set(versions).size).toBe(4)
  })

  it('shows a selector’s view: what begins to match is added, what stops is deleted', async () => {
    await labelled('one', { team: 'blue' })
    const events = await bed().events(configMaps, { labelSelector: 'team=red' }, 4, async () => {
      await relabel('one', { team: 'red' })
      await relabel('one', { size: 'big' })
      const gone = await relabel('one', { team: 'blue' })
      await labelled('two', { team: 'red' })
      return gone
    })
    expect(told(events)).toEqual(['ADDED one', 'MODIFIED one', 'DELETED one', 'ADDED two'])
    const now = await bed().api.get(configMaps, bed().ref('one'), never)
    expect(events[2]?.object.metadata.resourceVersion).toBe(now.metadata.resourceVersion)
  })

  it('tells one who watches a name of that object alone', async () => {
    const events = await bed().events(configMaps, { fieldSelector: 'metadata.name=one' }, 2, async () => {
      await labelled('other', {})
      await labelled('one', {})
      await relabel('other', { x: 'y' })
      await relabel('one', { x: 'y' })
    })
    expect(told(events)).toEqual(['ADDED one', 'MODIFIED one'])
  })

  it('streams the present state first and closes it with a bookmark', async () => {
    await labelled('one', { s: '1' })
    await labelled('two', { s: '1' })
    const stop = new AbortController()
    const seen: WatchEvent<ConfigMap>[] = []
    const options = { namespace: bed().namespace, labelSelector: 's=1', initialEvents: true }
    const watching = bed().api.watch(
      configMaps,
      options,
      (event) => {
        seen.push(event)
        if (event.type === 'BOOKMARK' && event.initialEventsEnd) stop.abort()
      },
      stop.signal,
    )
    await expect(watching).rejects.toBeDefined()
    expect(
      seen
        .map((event) => (event.type === 'BOOKMARK' ? 'BOOKMARK' : `${event.type} ${event.object.metadata.name}`))
        .sort(),
    ).toEqual(['ADDED one', 'ADDED two', 'BOOKMARK'])
    expect(seen.at(-1)).toMatchObject({ type: 'BOOKMARK', initialEventsEnd: true })
  })

  it('ends a watch in good order after the time asked for', async () => {
    const page = await bed().api.list(configMaps, { namespace: bed().namespace }, never)
    const options = { namespace: bed().namespace, resourceVersion: page.resourceVersion, timeoutSeconds: 1 }
    await bed().api.watch(configMaps, options, () => undefined, never)
  })

  it('says Expired where the history is forgotten', async () => {
    await labelled('one', {})
    await forgetHistory()
    const options = { namespace: bed().namespace, resourceVersion: '1', timeoutSeconds: 5 }
    await expect(bed().api.watch(configMaps, options, () => undefined, never)).rejects.toMatchObject({
      code: 'Expired',
    })
  })

  it('stops when the watcher wants no more', async () => {
    const stop = new AbortController()
    const page = await bed().api.list(configMaps, { namespace: bed().namespace }, never)
    const options = { namespace: bed().namespace, resourceVersion: page.resourceVersion }
    const watching = bed().api.watch(configMaps, options, () => undefined, stop.signal)
    stop.abort(new Error('enough'))
    await expect(watching).rejects.toBeDefined()
  })
}
