import type { Verb } from './request-fault.ts'

/** Requests by client and verb; the watches' own events are not requests. */
export class RequestCounter {
  readonly #counts = new Map<string, Map<Verb, number>>()

  /** To be called with each request of that client. */
  counterOf(client: string): (verb: Verb) => void {
    const verbs = this.#counts.get(client) ?? new Map<Verb, number>()
    this.#counts.set(client, verbs)
    return (verb) => verbs.set(verb, (verbs.get(verb) ?? 0) + 1)
  }

  of(client: string): ReadonlyMap<Verb, number> {
    return this.#counts.get(client) ?? new Map()
  }

  /** All requests of the clients whose name passes. */
  total(passes: (client: string) => boolean = () => true, verb?: Verb): number {
    let sum = 0
    for (const [client, verbs] of this.#counts) {
      if (!passes(client)) continue
      if (verb !== undefined) sum += verbs.get(verb) ?? 0
      else for (const count of verbs.values()) sum += count
    }
    return sum
  }
}
