/** How many of each; those named beforehand are told even where there are none. */
export class Count<Value extends string> {
  readonly #counts: Map<Value, number>

  constructor(values: readonly Value[] = []) {
    this.#counts = new Map(values.map((value) => [value, 0]))
  }

  add(value: Value, by = 1): void {
    this.#counts.set(value, this.of(value) + by)
  }

  /** Keeps the larger one. */
  raise(value: Value, to: number): void {
    this.#counts.set(value, Math.max(this.of(value), to))
  }

  of(value: Value): number {
    return this.#counts.get(value) ?? 0
  }

  [Symbol.iterator](): Iterator<[Value, number]> {
    return this.#counts.entries()
  }
}
