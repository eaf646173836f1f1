// The members of an operation in turn, how far the present wave reaches, and how its nodes stand. Sorted anew only when a
// turn changed, counted change by change otherwise.

import type { Role } from '../../core/node/node-facts.ts'
import type { Counts } from '../../core/update/progress.ts'
import { type Turn, turnOrder } from '../../core/update/turn-order.ts'
import type { WaveCounts } from '../../core/update/waves.ts'

export interface Placed extends Turn {
  readonly ready: boolean
  readonly standing: keyof Counts
}

export class WaveOrder {
  /** Without those there is nothing to do for; entries that left or do not wait any more are passed over. */
  #names: readonly string[] = []
  #turns = new Map<string, number>()
  #sorted = false
  #counted = false
  /** Somebody left whose turn still stands in the list. */
  #hasGaps = false
  /** How many workers the present wave and those before it take of so many. */
  #takes: (workers: number) => number = (workers) => workers
  #end = 0
  /** Workers with something to do, or done. */
  #workers = 0
  #counts = { open: 0, done: 0, failed: 0, unready: 0 }
  /** Before this turn nobody waits. */
  cursor = 0

  get names(): readonly string[] {
    return this.#names
  }

  get workers(): number {
    return this.#workers
  }

  /** The first turn that is not of the present wave. */
  get end(): number {
    return this.#end
  }

  get wave(): WaveCounts {
    return { ...this.#counts, size: this.#takes(this.#workers) }
  }

  open(takes: (workers: number) => number): void {
    this.#takes = takes
    this.#counted = false
    if (this.#hasGaps) this.#sorted = false
  }

  turn({ name }: Placed): number {
    return this.#turns.get(name) ?? Number.POSITIVE_INFINITY
  }

  isInWave(member: Placed, role: Role): boolean {
    return member.role === role && this.turn(member) < this.#end
  }

  /** Whoever leaves needs no new order, unless others move up into the wave. */
  replace(before: Placed | undefined, after: Placed | undefined): void {
    const was = hasTurn(before) ? before : undefined
    const is = hasTurn(after) ? after : undefined
    if (before) this.#tally(before, -1)
    const hasMoved = was?.role !== is?.role || was?.weight !== is?.weight || was?.zone !== is?.zone
    const isWhole = this.#end >= this.#names.length
    if (hasMoved && !is && isWhole) this.#hasGaps = true
    else if (hasMoved) {
      this.#sorted = false
      this.#counted = false
    }
    if (after) this.#tally(after, 1)
    const turn = after?.standing === 'waiting' ? this.#turns.get(after.name) : undefined
    if (turn !== undefined && turn < this.cursor) this.cursor = turn
  }

  /** Brings order and counts up to date with the members as they are. */
  sort(members: ReadonlyMap<string, Placed>): void {
    if (!this.#sorted) {
      this.#names = turnOrder([...members.values()].filter(hasTurn)).map(({ name }) => name)
      this.#turns = new Map()
      for (const [turn, name] of this.#names.entries()) this.#turns.set(name, turn)
      this.cursor = 0
      this.#hasGaps = false
      this.#sorted = true
    }
    if (this.#counted) return
    const beforeWorkers = this.#names.findIndex((name) => members.get(name)?.role === 'Worker')
    const limit = this.#takes(this.#workers)
    this.#end = limit === this.#workers ? this.#names.length : Math.max(0, beforeWorkers) + limit
    this.#counts = { open: 0, done: 0, failed: 0, unready: 0 }
    for (let turn = 0; turn < this.#end; turn++) {
      const member = members.get(this.#names[turn] ?? '')
      if (member?.role === 'Worker') this.#count(member, 1)
    }
    this.#counted = true
  }

  #tally(member: Placed, by: 1 | -1): void {
    if (member.role !== 'Worker') return
    if (hasTurn(member)) this.#workers += by
    if (this.#counted && this.turn(member) < this.#end) this.#count(member, by)
  }

  #count({ standing, ready }: Placed, by: 1 | -1): void {
    if (standing === 'done') this.#counts.done += by
    else if (standing === 'failed') this.#counts.failed += by
    else if (standing === 'waiting' && !ready) this.#counts.unready += by
    else if (standing !== 'skipped') this.#counts.open += by
  }
}

/** A node there is nothing to do for is in no wave. */
function hasTurn(member: Placed | undefined): member is Placed {
  return member !== undefined && member.standing !== 'skipped'
}
