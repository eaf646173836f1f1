import type { ListPage } from '../../ports/kube-api.ts'
import { expired } from './refusals.ts'
import type { StoredObject } from './stored-object.ts'

type Rest = Pick<ListPage<StoredObject>, 'items' | 'resourceVersion'>

const openLimit = 64

/** What is left of a list stays as it was when the list began, as with a real continue token. */
export class ListPages {
  readonly #open = new Map<string, Rest>()
  #counter = 0

  next(token: string, limit: number | undefined): ListPage<StoredObject> {
    const rest = this.#open.get(token)
    if (rest === undefined) {
      throw expired('The provided continue parameter is too old to display a consistent list result.')
    }
    return this.cut(rest, limit)
  }

  cut({ items, resourceVersion }: Rest, limit: number | undefined): ListPage<StoredObject> {
    if (!limit || items.length <= limit) return { items, resourceVersion }
    const continueToken = `page-${++this.#counter}`
    this.#open.set(continueToken, { items: items.slice(limit), resourceVersion })
    for (const oldest of this.#open.keys()) {
      if (this.#open.size <= openLimit) break
      this.#open.delete(oldest)
    }
    return { items: items.slice(0, limit), resourceVersion, continueToken }
  }

  forget(): void {
    this.#open.clear()
  }
}
