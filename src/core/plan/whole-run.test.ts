import { describe, expect, it } from 'vitest'
import type { Blocker } from './blocker.ts'
import type { Itinerary } from './itinerary.ts'
import type { PlanRun, TakenNode } from './plan-report.ts'
import { type WholeView, wholeRun } from './whole-run.ts'

const itinerary: Itinerary = {
  waves: [['cp1'], ['w1', 'w2', 'w3', 'w4', 'w5', 'w6']],
  unready: [[], []],
  maxUnavailable: 1,
  atOnce: 1,
}
const budget: Blocker = {
  key: 'PodDisruptionBudget x',
  code: 'PodDisruptionBudget',
  message: 'all of it',
  lasting: true,
}

const view: WholeView = {
  itinerary,
  rehearsed: new Set(['cp1', 'w1', 'w3']),
  findings: [],
  soakMs: [0],
  setsOf: () => [],
  drain: { timeoutMs: 1_000, onTimeout: 'Hold' },
  racing: 0,
}

const at = (name: string, atMs: number, backMs: number, afterMove = false): TakenNode => {
  return { name, wave: 0, atMs, backMs, afterMove }
}

const run: PlanRun = {
  phase: 'Succeeded',
  startedMs: 100,
  durationMs: 400,
  taken: [at('cp1', 100, 200), at('w1', 200, 290), at('w3', 300, 410)],
  blockers: [],
  near: [],
  unplaced: new Map(),
  steps: [],
}

const orderOf = ({ taken }: PlanRun) => taken.map(({ name, afterMove }) => (afterMove ? `${name}?` : name)).join(' ')

describe('the rehearsal of a part', () => {
  it('stands for the whole: its order, and the times of the others as of those that were rehearsed', () => {
    const whole = wholeRun(run, view)
    expect(orderOf(whole)).toBe('cp1 w1 w2 w3 w4 w5 w6')
    // 100 for cp1, w1 90, w2 90, w3 110, w4 110, w5 90, w6 110, and 90 after the last.
    expect(whole.durationMs).toBe(100 + 90 + 90 + 110 + 110 + 90 + 110 + 90)
  })

  it('says nothing of nodes behind one that was not taken', () => {
    expect(orderOf(wholeRun({ ...run, taken: run.taken.slice(0, 2) }, view))).toBe('cp1 w1 w2')
    expect(orderOf(wholeRun({ ...run, taken: [] }, view))).toBe('')
  })

  it('is sure of no place from where the operator had moved, the order was another, or sets decide', () => {
    const moved = { ...run, taken: [at('cp1', 100, 200), at('w1', 200, 290), at('w3', 300, 410, true)] }
    expect(orderOf(wholeRun(moved, view))).toBe('cp1 w1 w2 w3? w4? w5? w6?')
    const swapped = { ...run, taken: [at('cp1', 100, 200), at('w3', 200, 290), at('w1', 300, 410)] }
    expect(orderOf(wholeRun(swapped, view))).toBe('cp1 w1? w2? w3? w4? w5? w6?')
    expect(orderOf(wholeRun(swapped, { ...view, racing: 2 }))).toBe('cp1 w1 w2 w3 w4 w5 w6')
    const setsOf = () => [{ name: 'zone a', maxUnavailable: 1 }]
    expect(orderOf(wholeRun(run, { ...view, setsOf }))).toBe('cp1 w1? w2? w3? w4? w5? w6?')
  })

  it('adds what the look found: certain only where the rehearsal came to the end', () => {
    const findings = [{ certainty: 'certain', blocker: budget, nodes: ['w5', 'w6'] }] as const
    const whole = wholeRun(run, { ...view, findings })
    expect(whole.blockers.map(({ node }) => node)).toEqual(['w5', 'w6'])
    expect(whole.durationMs).toBe(wholeRun(run, view).durationMs + 2_000)
    const stuck = wholeRun({ ...run, taken: run.taken.slice(0, 2) }, { ...view, findings })
    expect([stuck.blockers.length, stuck.near.length]).toEqual([0, 2])
    const aborts = wholeRun(run, { ...view, findings, drain: { timeoutMs: 1_000, onTimeout: 'Abort' } })
    expect(aborts.near.map(({ key }) => key)).toEqual(['DrainAborted Node w5', 'DrainAborted Node w6'])
  })

  it('tells what it met in the words of the look, which knows all pods', () => {
    const findings = [{ certainty: 'doubtful', blocker: budget, nodes: ['w1'] }] as const
    const met = { ...run, blockers: [{ ...budget, message: 'a part of it', node: 'w1' }] }
    expect(wholeRun(met, { ...view, findings }).blockers).toMatchObject([{ message: 'all of it', node: 'w1' }])
  })
})
