import type { KubeObject, ResourceType } from '../../api/kube.ts'
import { isKubeError } from '../../api/kube-error.ts'
import type { Clock } from '../../ports/clock.ts'
import type { KubeApi, Selection, WatchEvent } from '../../ports/kube-api.ts'
import { pause } from './pause.ts'

/** What is now (undefined = gone), and what was before (undefined = new). */
export type ChangeListener<T> = (after: T | undefined, before: T | undefined, key: string) => void

const pageSize = 500
const retryMs = 1000

/** The objects of a selection as an actor knows them: list, then watch, and again when that ends. */
export class Following<T extends KubeObject> {
  readonly #api: KubeApi
  readonly #clock: Clock
  readonly #type: ResourceType<T>
  readonly #selection: Selection
  readonly #objects = new Map<string, T>()
  readonly #listeners: ChangeListener<T>[] = []

  constructor(api: KubeApi, clock: Clock, type: ResourceType<T>, selection: Selection = {}) {
    this.#api = api
    this.#clock = clock
    this.#type = type
    this.#selection = selection
  }

  get(key: string): T | undefined {
    return this.#objects.get(key)
  }

  values(): IterableIterator<T> {
    return this.#objects.values()
  }

  subscribe(listener: ChangeListener<T>): void {
    this.#listeners.push(listener)
  }

  /** Takes the answer to one's own write at once, so that the next look does not see the past. */
  learn(object: T): void {
    const key = keyOf(object)
    const known = this.#objects.get(key)
    if (known !== undefined && versionOf(known) >= versionOf(object)) return
    this.#objects.set(key, object)
    this.#tell(object, known, key)
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        let version = await this.#list(signal)
        while (!signal.aborted) {
          const options = { ...this.#selection, resourceVersion: version }
          await this.#api.watch(
            this.#type,
            options,
            (event) => {
              version = this.#take(event)
            },
            signal,
          )
        }
      } catch (error) {
        if (signal.aborted) return
        if (!isKubeError(error)) throw error
        if (error.code !== 'Expired') await pause(this.#clock, retryMs, signal)
      }
    }
  }

  async #list(signal: AbortSignal): Promise<string> {
    const gone = new Set(this.#objects.keys())
    let continueToken: string | undefined
    for (;;) {
      const page = await this.#api.list(
        this.#type,
        { ...this.#selection, limit: pageSize, ...(continueToken === undefined ? {} : { continueToken }) },
        signal,
      )
      for (const object of page.items) {
        gone.delete(keyOf(object))
        this.learn(object)
      }
      continueToken = page.continueToken
      if (continueToken !== undefined) continue
      for (const key of gone) this.#remove(key)
      return page.resourceVersion
    }
  }

  #take(event: WatchEvent<T>): string {
    if (event.type === 'BOOKMARK') return event.resourceVersion
    const { object } = event
    if (event.type !== 'DELETED') this.learn(object)
    else if (this.#objects.get(keyOf(object))?.metadata.uid === object.metadata.uid) this.#remove(keyOf(object))
    return object.metadata.resourceVersion
  }

  #remove(key: string): void {
    const known = this.#objects.get(key)
    if (known === undefined) return
    this.#objects.delete(key)
    this.#tell(undefined, known, key)
  }

  #tell(after: T | undefined, before: T | undefined, key: string): void {
    for (const listener of this.#listeners) listener(after, before, key)
  }
}

export function keyOf(object: KubeObject): string {
  const { namespace, name } = object.metadata
  return namespace === undefined ? name : `${namespace}/${name}`
}

/** Versions of one server grow; what is compared here is always of one kind. */
function versionOf(object: KubeObject): number {
  return Number(object.metadata.resourceVersion)
}
