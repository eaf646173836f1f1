import type { Random } from '../../ports/random.ts'

interface Place {
  load: number
  index: number
}

/** Nodes by how many pods they carry, so that the emptiest is found without looking at all of them. */
export class LoadBuckets {
  readonly #random: Random
  readonly #buckets: string[][] = []
  readonly #places = new Map<string, Place>()

  constructor(random: Random) {
    this.#random = random
  }

  has(node: string): boolean {
    return this.#places.has(node)
  }

  set(node: string, load: number): void {
    const place = this.#places.get(node)
    if (place?.load === load) return
    if (place !== undefined) this.#takeOut(node, place)
    while (this.#buckets.length <= load) this.#buckets.push([])
    const bucket = this.#buckets[load] as string[]
    this.#places.set(node, { load, index: bucket.length })
    bucket.push(node)
  }

  remove(node: string): void {
    const place = this.#places.get(node)
    if (place === undefined) return
    this.#takeOut(node, place)
    this.#places.delete(node)
  }

  /** Up to `count` nodes that pass, the emptiest first, equals in drawn order. */
  emptiest(count: number, passes: (node: string) => boolean): readonly string[] {
    const found: string[] = []
    for (const bucket of this.#buckets) {
      const start = Math.floor(this.#random.next() * bucket.length)
      for (let i = 0; i < bucket.length; i++) {
        const node = bucket[(start + i) % bucket.length] as string
        if (!passes(node)) continue
        found.push(node)
        if (found.length === count) return found
      }
    }
    return found
  }

  #takeOut(node: string, place: Place): void {
    const bucket = this.#buckets[place.load] as string[]
    const last = bucket.pop() as string
    if (last === node) return
    bucket[place.index] = last
    ;(this.#places.get(last) as Place).index = place.index
  }
}
