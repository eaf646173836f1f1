import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Node } from '../api/kube.ts'
import { type Change, Store } from './store.ts'

function node(name: string, version: number, options: { uid?: string; zone?: string } = {}): Node {
  const { uid = `uid-${name}`, zone = 'a' } = options
  const metadata = { name, uid, resourceVersion: String(version), creationTimestamp: '', labels: { zone } }
  return { metadata, spec: {} }
}

function storeWithLog(): { store: Store<Node>; seen: string[] } {
  const store = new Store<Node>({ indexes: { zone: (object) => [object.metadata.labels?.zone ?? ''] } })
  const seen: string[] = []
  store.subscribe((change) => seen.push(`${change.type} ${change.key}@${change.object.metadata.resourceVersion}`))
  return { store, seen }
}

const namesIn = (store: Store<Node>, zone: string) => store.byIndex('zone', zone).map((found) => found.metadata.name)

describe('Store', () => {
  test('tells of additions, changes and removals in order', () => {
    const { store, seen } = storeWithLog()
    store.upsert(node('a', 1))
    store.upsert(node('a', 2))
    store.remove('a', '3')
    expect(seen).toEqual(['added a@1', 'changed a@2', 'removed a@2'])
    expect(store.size).toBe(0)
  })

  test('a changed object carries what it was', () => {
    const { store } = storeWithLog()
    const changes: Change<Node>[] = []
    store.upsert(node('a', 9))
    store.subscribe((change) => changes.push(change))
    store.upsert(node('a', 10))
    expect(changes).toMatchObject([{ type: 'changed', before: { metadata: { resourceVersion: '9' } } }])
  })

  test.each([
    { what: 'a late event', act: (store: Store<Node>) => store.upsert(node('a', 9)) },
    { what: 'a repeated event', act: (store: Store<Node>) => store.upsert(node('a', 10)) },
    { what: 'a late deletion of an earlier object of that name', act: (store: Store<Node>) => store.remove('a', '9') },
    { what: 'the answer to an older write', act: (store: Store<Node>) => store.learn(node('a', 9)) },
  ])('$what changes nothing', ({ act }) => {
    const { store, seen } = storeWithLog()
    store.upsert(node('a', 10))
    act(store)
    expect(seen).toEqual(['added a@10'])
    expect(store.get('a')?.metadata.resourceVersion).toBe('10')
  })

  test('an object made anew under the same name is a removal and an addition', () => {
    const { store, seen } = storeWithLog()
    store.upsert(node('a', 1))
    store.upsert(node('a', 5, { uid: 'other' }))
    expect(seen).toEqual(['added a@1', 'removed a@1', 'added a@5'])
  })

  test('learning shows one’s own write at once, and the watch’s copy of it is no news', () => {
    const { store, seen } = storeWithLog()
    store.upsert(node('a', 1))
    store.learn(node('a', 2))
    const transformed = node('a', 2)
    store.upsert(transformed)
    expect(seen).toEqual(['added a@1', 'changed a@2'])
    expect(store.get('a')).toBe(transformed)
  })

  test('the answer to a write cannot bring back what the watch has shown deleted', () => {
    const { store, seen } = storeWithLog()
    store.upsert(node('a', 1))
    store.remove('a', '3')
    store.learn(node('a', 2))
    expect(store.get('a')).toBeUndefined()
    expect(seen.at(-1)).toBe('removed a@1')
  })

  test('a list removes what it does not name, but not our own write made since', () => {
    const { store, seen } = storeWithLog()
    store.replaceAll([node('a', 1), node('b', 2), node('c', 3)], '5')
    store.learn(node('c', 8))
    store.learn(node('d', 9))
    seen.length = 0
    store.replaceAll([node('a', 1), node('b', 6), node('c', 3)], '7')
    expect(seen).toEqual(['changed b@6'])
    store.replaceAll([node('b', 6), node('c', 8)], '10')
    expect(seen).toEqual(['changed b@6', 'removed a@1', 'removed d@9'])
  })

  test('a list is the truth also when it goes back in time', () => {
    const { store } = storeWithLog()
    store.replaceAll([node('a', 100)], '100')
    store.replaceAll([node('a', 40)], '50')
    store.upsert(node('a', 60))
    expect(store.get('a')?.metadata.resourceVersion).toBe('60')
  })

  test('an unknown index is a mistake, not an empty answer', () => {
    expect(() => storeWithLog().store.byIndex('nope', 'x')).toThrow('no index "nope"')
  })

  test('an index always equals a search through all', () => {
    const step = fc.record({
      name: fc.constantFrom('a', 'b', 'c'),
      zone: fc.constantFrom('x', 'y'),
      remove: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const { store } = storeWithLog()
        for (const [i, { name, zone, remove }] of steps.entries()) {
          if (remove) store.remove(name, String(i + 1))
          else store.upsert(node(name, i + 1, { zone }))
          for (const wanted of ['x', 'y']) {
            const found = [...store.values()].filter((object) => object.metadata.labels?.zone === wanted)
            expect(namesIn(store, wanted).toSorted()).toEqual(found.map((object) => object.metadata.name).toSorted())
          }
        }
      }),
    )
  })
})
