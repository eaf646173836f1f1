// Who hears of a change: watchers are found by the node or name they asked for, so that five thousand kubelets cost nothing
// to each other.

import type { WatchEvent } from '../../ports/kube-api.ts'
import { nodeNameOf, type TableChange } from './resource-table.ts'
import { isSelected, type Selected } from './selected.ts'
import type { StoredObject } from './stored-object.ts'

export type WatchSink = (event: WatchEvent<StoredObject>) => void

interface Watcher {
  readonly selected: Selected
  readonly sink: WatchSink
}

/** The watchers of one kind. */
export class WatchHub {
  readonly #everything = new Set<Watcher>()
  readonly #byName = new Map<string, Set<Watcher>>()
  readonly #byNode = new Map<string, Set<Watcher>>()

  add(selected: Selected, sink: WatchSink): () => void {
    const watcher = { selected, sink }
    const [index, value] =
      selected.name !== undefined
        ? [this.#byName, selected.name]
        : selected.nodeName
          ? [this.#byNode, selected.nodeName]
          : [undefined, '']
    const group = index === undefined ? this.#everything : grouped(index, value)
    group.add(watcher)
    return () => {
      group.delete(watcher)
      if (group.size === 0 && index !== undefined && index.get(value) === group) index.delete(value)
    }
  }

  dispatch(change: TableChange): void {
    for (const watcher of this.#everything) tell(watcher.selected, change, watcher.sink)
    const named = this.#byName.get(change.last.metadata.name)
    if (named !== undefined) for (const watcher of named) tell(watcher.selected, change, watcher.sink)
    const node = nodeNameOf(change.last)
    if (node === undefined) return
    const onNode = this.#byNode.get(node)
    if (onNode !== undefined) for (const watcher of onNode) tell(watcher.selected, change, watcher.sink)
  }
}

/** What one change is to one watcher: an object that begins to match is ADDED, one that no longer does DELETED. */
export function tell(selected: Selected, change: TableChange, sink: WatchSink): void {
  const { before, last, deleted } = change
  const matched = before !== undefined && isSelected(selected, before)
  const matches = !deleted && isSelected(selected, last)
  if (matches) sink({ type: matched ? 'MODIFIED' : 'ADDED', object: last })
  else if (matched) sink({ type: 'DELETED', object: deleted ? last : departed(before, last) })
}

/** The last state that matched, with the version at which it stopped to. */
function departed(before: StoredObject, last: StoredObject): StoredObject {
  return { ...before, metadata: { ...before.metadata, resourceVersion: last.metadata.resourceVersion } }
}

function grouped(index: Map<string, Set<Watcher>>, value: string): Set<Watcher> {
  const found = index.get(value)
  if (found !== undefined) return found
  const group = new Set<Watcher>()
  index.set(value, group)
  return group
}
