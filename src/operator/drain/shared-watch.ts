// A watch that several drains share, open only while one of them uses it.

import type { KubeObject, ResourceType } from '../../api/kube.ts'
import { LinkedAbort } from '../../kube/linked-abort.ts'
import { Reflector } from '../../kube/reflector.ts'
import { Store, type StoreOptions } from '../../kube/store.ts'
import type { CancelTimer } from '../../ports/clock.ts'
import type { OperatorPorts } from '../ports.ts'

/** The next drain is seldom far. */
const lingerMs = 60_000

interface OpenWatch<T extends KubeObject> {
  readonly store: Store<T>
  readonly reflector: Reflector<T>
  readonly stop: () => void
}

export interface SharedWatchOptions<T extends KubeObject> extends StoreOptions<T> {
  readonly ports: OperatorPorts
  readonly type: ResourceType<T>
  readonly transform: (object: T) => T
  readonly changed: (object: T) => void
  readonly signal: AbortSignal
}

export class SharedWatch<T extends KubeObject> {
  readonly #options: SharedWatchOptions<T>
  #users = 0
  #stopTimer: CancelTimer | undefined
  #watch: OpenWatch<T> | undefined

  constructor(options: SharedWatchOptions<T>) {
    this.#options = options
    options.signal.addEventListener('abort', () => this.#stopTimer?.(), { once: true })
  }

  /** Watches as long as somebody uses it, and a while longer; returns the way to end that. */
  use(): () => void {
    this.#users++
    this.#stopTimer?.()
    this.#stopTimer = undefined
    this.#watch ??= this.#open()
    return () => {
      this.#users--
      if (this.#users > 0) return
      this.#stopTimer = this.#options.ports.clock.after(lingerMs, () => {
        this.#watch?.stop()
        this.#watch = undefined
      })
    }
  }

  async synced(signal: AbortSignal): Promise<void> {
    await this.#watch?.reflector.synced(signal)
  }

  get isSynced(): boolean {
    return this.#watch?.reflector.isSynced ?? false
  }

  /** What keeps it from being up to date now. */
  get failure(): unknown {
    return this.#watch?.reflector.failure
  }

  byIndex(index: string, value: string): readonly T[] {
    return this.#watch?.store.byIndex(index, value) ?? []
  }

  #open(): OpenWatch<T> {
    const { ports, type, transform, changed, signal, ...options } = this.#options
    const store = new Store<T>(options)
    store.subscribe(({ object }) => changed(object))
    const reflector = new Reflector({ ...ports, type, store, transform })
    ports.log.debug('watching while something drains', { resource: type.plural })
    const life = new LinkedAbort(signal)
    void reflector.run(life.signal)
    return { store, reflector, stop: () => life.abort('nothing drains') }
  }
}
