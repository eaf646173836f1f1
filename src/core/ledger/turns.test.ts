import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Turn } from '../../api/maintenance-policy.ts'
import { type DatedClaim, decideGrants, type LedgerView } from './grants.ts'
import { laneOf, servedAt, turnsAfter } from './turns.ts'

/** Not of the first moment there is: that is how `never` is written. */
const atMs = (second: number) => Date.parse('2026-01-01T00:00:00Z') + second * 1000
const at = (second: number) => new Date(atMs(second)).toISOString()

describe('lanes', () => {
  it.each([
    ['up/uid-1-abc', 'up'],
    ['profile:base:drain/rev-1', 'profile:base:drain'],
    ['maintenance:w1/uid-abc', 'maintenance'],
  ])('%s is in lane %s', (holder, lane) => {
    expect(laneOf(holder)).toBe(lane)
  })
})

describe('what is remembered of turns', () => {
  const before: readonly Turn[] = [
    { lane: 'up', at: at(1) },
    { lane: 'gone', at: at(2) },
    { lane: 'maintenance', at: at(3) },
  ]
  it('is the last one of each who may ask again', () => {
    expect(turnsAfter(before, ['up', 'new'], ['up', 'new'], at(9))).toEqual([
      { lane: 'up', at: at(9) },
      { lane: 'maintenance', at: at(3) },
      { lane: 'new', at: at(9) },
    ])
  })
})

interface Wish {
  readonly lane: number
  /** The step in which it begins to ask. */
  readonly since: number
  readonly nodes: number
}

/** One pass a second; after each, one slot comes back. Says for how many returns each lane waited at most. */
function play(slots: number, wishes: readonly Wish[], choose: readonly number[]): readonly number[] {
  const left = wishes.map(({ nodes }) => nodes)
  const waited = wishes.map(() => 0)
  const longest = wishes.map(() => 0)
  const held: { readonly node: string; readonly holder: string }[] = []
  let turns: readonly Turn[] = []
  for (let step = 0; step < choose.length; step++) {
    const asking = wishes.flatMap(({ lane, since }, index) =>
      since <= step && (left[index] ?? 0) > 0 ? [claimOf(lane, since, left[index] ?? 0, step)] : [],
    )
    const verdicts = decideGrants(viewOf(slots, held, turns), asking)
    const granted = verdicts.filter(({ verdict }) => verdict === 'granted')
    const lanes = granted.map(({ holder }) => laneOf(holder))
    turns = turnsAfter(
      turns,
      lanes,
      asking.map(({ holder }) => laneOf(holder)),
      at(step),
    )
    for (const { holder, request } of granted) held.push({ node: request.node, holder })
    expect(held.length).toBeLessThanOrEqual(slots)
    for (const [index, { lane, since }] of wishes.entries()) {
      const got = lanes.filter((name) => name === `u${lane}`).length
      left[index] = (left[index] ?? 0) - got
      const isWaiting = since <= step && got === 0 && (left[index] ?? 0) > 0
      waited[index] = isWaiting ? (waited[index] ?? 0) + 1 : 0
      longest[index] = Math.max(longest[index] ?? 0, waited[index] ?? 0)
    }
    if (held.length > 0) held.splice((choose[step] ?? 0) % held.length, 1)
  }
  return longest
}

function claimOf(lane: number, since: number, nodes: number, step: number): DatedClaim {
  const requests = Array.from({ length: nodes }, (_, index) => {
    const node = `n${lane}-${step}-${index}`
    return { node, nodeUID: node, role: 'Worker' as const }
  })
  return { holder: `u${lane}/1`, since: atMs(since), requests, limit: { maxUnavailable: 1000, counted: 0 } }
}

function viewOf(
  slots: number,
  held: readonly { readonly node: string; readonly holder: string }[],
  turns: readonly Turn[],
): LedgerView {
  const budget = { name: 'cluster', maxUnavailable: slots }
  return {
    paused: false,
    budgetsOf: () => [budget],
    unavailable: new Set(),
    held: new Map(held.map(({ node, holder }) => [node, holder])),
    controlPlaneAway: new Set(),
    served: servedAt(turns),
  }
}

describe('the law of turns', () => {
  it('one reboot does not wait behind five hundred nodes', () => {
    const longest = play(
      1,
      [
        { lane: 0, since: 0, nodes: 500 },
        { lane: 1, since: 10, nodes: 1 },
      ],
      Array(20).fill(0),
    )
    expect(longest[1]).toBeLessThanOrEqual(1)
  })

  it('nobody waits for more slots to come back than there are others who ask', () => {
    const wishes = fc
      .array(fc.record({ since: fc.nat(20), nodes: fc.integer({ min: 1, max: 60 }) }), { minLength: 1, maxLength: 6 })
      .map((drawn) => drawn.map((wish, lane) => ({ ...wish, lane })))
    const choose = fc.array(fc.nat(), { minLength: 60, maxLength: 60 })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4 }), wishes, choose, (slots, asked, order) => {
        for (const waited of play(slots, asked, order)) expect(waited).toBeLessThanOrEqual(asked.length - 1)
      }),
      { numRuns: 300 },
    )
  })
})
