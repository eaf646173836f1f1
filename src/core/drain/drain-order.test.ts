import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { allowanceFor, type BudgetClaim } from './drain-order.ts'

const at = (minute: number) => `2026-01-01T12:${String(minute).padStart(2, '0')}:00Z`
const claims = (...list: readonly (readonly [string, number, number])[]): (readonly [string, BudgetClaim])[] =>
  list.map(([node, minute, pods]) => [node, { since: at(minute), pods }])

describe('what a budget has for a node', () => {
  it.each<[string, number, ReturnType<typeof claims>, object]>([
    ['all, where nobody else asks', 2, claims(), { left: 2 }],
    ['its own claim is none against it', 1, claims(['w5', 5, 3]), { left: 1 }],
    ['later ones take nothing', 1, claims(['w1', 6, 3]), { left: 1 }],
    ['earlier ones go first', 1, claims(['w9', 4, 1]), { left: 0, before: 'w9' }],
    ['what they leave is free', 3, claims(['w9', 4, 1], ['w8', 3, 1]), { left: 1 }],
    ['one that needs no more goes before nobody', 1, claims(['w9', 4, 0]), { left: 1 }],
    ['taken in the same write: by name', 1, claims(['w4', 5, 1], ['w6', 5, 9]), { left: 0, before: 'w4' }],
    ['nothing to share: nobody is to be blamed', 0, claims(['w9', 4, 1]), { left: -1 }],
  ])('%s', (_name, allowed, others, expected) => {
    expect(allowanceFor('w5', at(5), allowed, others)).toEqual(expected)
  })
})

/** Nodes that drain pods of one budget into the room that is left elsewhere; a node that is empty comes back with its room. */
class Drains {
  readonly #pods: number[]
  readonly #order: boolean
  readonly #disruptions: number
  #room: number
  #homeless = 0

  constructor(pods: readonly number[], room: number, disruptions: number, order: boolean) {
    this.#pods = [...pods]
    this.#room = room
    this.#disruptions = disruptions
    this.#order = order
  }

  get isOver(): boolean {
    return this.#pods.every((pods) => pods === 0)
  }

  /** Nodes that may evict a pod now. */
  get movers(): readonly number[] {
    return this.#pods.flatMap((pods, node) => (pods > 0 && this.#allowed(node) > 0 ? [node] : []))
  }

  evict(node: number): void {
    const left = (this.#pods[node] ?? 0) - 1
    this.#pods[node] = left
    if (this.#room > 0) this.#room--
    else this.#homeless++
    if (left === 0) this.#comeBack(this.#sizes[node] ?? 0)
  }

  readonly #sizes: Record<number, number> = {}

  begin(): this {
    for (const [node, pods] of this.#pods.entries()) this.#sizes[node] = pods
    return this
  }

  #comeBack(room: number): void {
    const housed = Math.min(room, this.#homeless)
    this.#homeless -= housed
    this.#room += room - housed
  }

  #allowed(node: number): number {
    const allowed = this.#disruptions - this.#homeless
    if (!this.#order) return allowed
    const others = this.#pods.map((pods, index) => [`w${index}`, { since: at(index), pods }] as const)
    return allowanceFor(`w${node}`, at(node), allowed, others).left
  }
}

function drainAll(drains: Drains, pick: (movers: readonly number[]) => number | undefined): boolean {
  for (let turn = 0; turn < 1000 && !drains.isOver; turn++) {
    const mover = pick(drains.movers)
    if (mover === undefined) return false
    drains.evict(mover)
  }
  return drains.isOver
}

describe('drains against one budget', () => {
  const setting = fc.record({
    pods: fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 2, maxLength: 6 }),
    spare: fc.nat(3),
    disruptions: fc.integer({ min: 1, max: 3 }),
    picks: fc.array(fc.nat(100), { minLength: 40, maxLength: 40 }),
  })
  const run = (
    { pods, spare, disruptions, picks }: typeof setting extends fc.Arbitrary<infer T> ? T : never,
    order: boolean,
  ) => {
    let turn = 0
    const drains = new Drains(pods, Math.max(...pods) + spare, disruptions, order).begin()
    return drainAll(drains, (movers) => movers[(picks[turn++ % picks.length] ?? 0) % Math.max(1, movers.length)])
  }

  it('always end, whoever comes to ask first, where there is room for the largest node', () => {
    fc.assert(
      fc.property(setting, (given) => run(given, true)),
      { numRuns: 2000 },
    )
  })

  it('would not without an order', () => {
    const found = fc.check(
      fc.property(setting, (given) => run(given, false)),
      { numRuns: 2000 },
    )
    expect(found.failed).toBe(true)
  })
})
