// What is seen of a real cluster from outside, by watches: the same view that a rehearsal has of its own.

import { directUpdates } from '../../src/api/direct-update.ts'
import { type KubeObject, nodes, podDisruptionBudgets, pods, type ResourceType } from '../../src/api/kube.ts'
import { maintenancePolicies } from '../../src/api/maintenance-policy.ts'
import { nodeStates } from '../../src/api/node-state.ts'
import { Reflector } from '../../src/kube/reflector.ts'
import { Store } from '../../src/kube/store.ts'
import type { WatchedCluster } from '../../src/main/simulation/plan-notes.ts'
import type { Clock } from '../../src/ports/clock.ts'
import type { KubeApi, ObjectRef, Selection } from '../../src/ports/kube-api.ts'
import type { Random } from '../../src/ports/random.ts'
import type { CommitListener } from '../../src/sim/server/object-store.ts'
import { silentLog } from '../../src/sim/silent-log.ts'

const watched: readonly ResourceType[] = [
  ...[nodes, pods, podDisruptionBudgets, nodeStates, maintenancePolicies, directUpdates],
]

export class RealSight implements WatchedCluster {
  readonly clock: Clock
  readonly #stores = new Map<string, Store<KubeObject>>()
  readonly #reflectors: readonly Reflector<KubeObject>[]
  readonly #listeners = new Set<CommitListener>()

  constructor(api: KubeApi, clock: Clock, random: Random) {
    this.clock = clock
    this.#reflectors = watched.map((type) => {
      const store = new Store<KubeObject>()
      store.subscribe((change) => this.#tell(type.kind, change.type, change))
      this.#stores.set(type.kind, store)
      return new Reflector({ api, type, store, clock, random, log: silentLog })
    })
  }

  readonly server: WatchedCluster['server'] = {
    onCommit: (listener) => {
      this.#listeners.add(listener)
      return () => void this.#listeners.delete(listener)
    },
    peek: <T extends KubeObject>({ kind }: ResourceType<T>, { namespace, name }: ObjectRef) =>
      this.#stores.get(kind)?.get(namespace === undefined ? name : `${namespace}/${name}`) as T | undefined,
    peekAll: <T extends KubeObject>({ kind }: ResourceType<T>, { namespace }: Selection = {}) =>
      [...(this.#stores.get(kind)?.values() ?? [])].filter(
        ({ metadata }) => namespace === undefined || metadata.namespace === namespace,
      ) as T[],
  }

  /** Resolves when everything is known; goes on until aborted. */
  async start(signal: AbortSignal): Promise<void> {
    for (const reflector of this.#reflectors) void reflector.run(signal)
    await Promise.all(this.#reflectors.map((reflector) => reflector.synced(signal)))
  }

  #tell(
    kind: string,
    type: 'added' | 'changed' | 'removed',
    { object, before }: { readonly object: KubeObject; readonly before?: KubeObject },
  ): void {
    const known = { kind, client: '', time: this.clock.monotonicMs() }
    for (const listener of this.#listeners) {
      if (type === 'removed') listener({ ...known, type: 'deleted', before: object })
      else if (before) listener({ ...known, type: 'updated', before, after: object })
      else listener({ ...known, type: 'created', after: object })
    }
  }
}
