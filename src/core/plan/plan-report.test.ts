import { describe, expect, it } from 'vitest'
import type { Blocker } from './blocker.ts'
import { type PlanRun, planReport, type TakenNode } from './plan-report.ts'

const taken = (names: string, afterMove = false): readonly TakenNode[] =>
  names.split(' ').map((name, index) => ({ name, wave: name.startsWith('cp') ? 0 : 1, atMs: 1000 * index, afterMove }))

const budget = (name: string, lasting: boolean, node = 'w1'): Blocker => ({
  key: `PodDisruptionBudget ${name}`,
  code: 'PodDisruptionBudget',
  message: `waits for ${name}`,
  node,
  lasting,
})

const run = (part: Partial<PlanRun>): PlanRun => ({
  phase: 'Succeeded',
  startedMs: 0,
  durationMs: 60_000,
  taken: taken('cp1 w1 w2 w3'),
  blockers: [],
  near: [],
  unplaced: new Map(),
  steps: [],
  ...part,
})

const inTurn = [['cp1'], ['w1', 'w2', 'w3', 'w4', 'w5']]

const report = (runs: readonly PlanRun[], racing = 0, doubts: readonly Blocker[] = []) =>
  planReport({ update: 'u', runs, alike: 0, doubts, racing, inTurn, titleOf: String, assumptions: [] })

describe('a plan, of several rehearsals', () => {
  it.each([
    { name: 'met in every one, for good', runs: [[budget('a', true)], [budget('a', true)]], verdict: 'blocked' },
    {
      name: 'met in every one, by chance',
      runs: [[budget('a', false)], [budget('a', false)]],
      verdict: 'possiblyBlocked',
    },
    { name: 'met in one', runs: [[budget('a', true)], []], verdict: 'possiblyBlocked' },
    { name: 'nearly met in one', runs: [[], []], near: [budget('a', true)], verdict: 'possiblyBlocked' },
    { name: 'met in none', runs: [[], []], verdict: 'clear' },
  ])('calls what was $name $verdict', ({ runs, verdict, near = [] }) => {
    const planned = report(runs.map((blockers) => run({ blockers, near })))
    expect(planned.verdict).toBe(verdict)
    if (verdict !== 'clear') expect(planned.blockers[0]?.certainty).toBe(verdict === 'blocked' ? 'certain' : 'possible')
  })

  it('calls what meets another node each time possible', () => {
    const gate = (node: string): Blocker => ({ ...budget('gate', true, node), placeMatters: true })
    const certainty = (...nodes: string[]) =>
      report(nodes.map((node) => run({ blockers: [gate(node)] }))).blockers.map((one) => one.certainty)
    expect(certainty('w1', 'w1')).toEqual(['certain'])
    expect(certainty('w1', 'w2')).toEqual(['possible'])
  })

  it('names all nodes that were taken in any of them, where all were stopped early', () => {
    const planned = report([run({ taken: taken('cp1 w1 w3') }), run({ taken: taken('cp1 w1 w2') })])
    expect(planned.waves.at(-1)?.nodes).toEqual([
      { name: 'w1', certain: true },
      { name: 'w3', certain: false },
      { name: 'w2', certain: false },
    ])
  })

  it('names those that race in the wave in which all were stopped', () => {
    const names = (phase: string) =>
      report([run({ phase, taken: taken('cp1 w3') })], 4)
        .waves.at(-1)
        ?.nodes.map(({ name }) => name)
    expect(names('Failed')).toEqual(['w3', 'w1', 'w2', 'w4'])
    expect(names('Succeeded')).toEqual(['w3'])
  })

  it('is certain of nothing that comes after what may end the update', () => {
    const gate = { key: 'GateFailed', code: 'GateFailed', message: 'not so', lasting: false }
    const certainty = (gateMs: number | undefined, doubts: readonly Blocker[] = []) => {
      const near = gateMs === undefined ? [] : [{ ...gate, atMs: gateMs }]
      const blockers = [{ ...budget('a', true), atMs: 5000 }]
      const planned = report([run({ blockers }), run({ blockers, near })], 0, doubts)
      return planned.blockers.find(({ cause }) => cause === 'a')?.certainty
    }
    expect(certainty(undefined)).toBe('certain')
    expect(certainty(6000)).toBe('certain')
    expect(certainty(4000)).toBe('possible')
    expect(certainty(undefined, [gate])).toBe('possible')
    expect(certainty(undefined, [budget('b', false)])).toBe('certain')
  })

  it('names each cause once, with all its nodes, the certain ones first', () => {
    const planned = report([
      run({ blockers: [budget('b', false, 'w3'), budget('a', true, 'w2')] }),
      run({ blockers: [budget('a', true, 'w10'), budget('a', true, 'w2')] }),
    ])
    expect(planned.blockers).toMatchObject([
      { certainty: 'certain', cause: 'a', nodes: ['w2', 'w10'] },
      { certainty: 'possible', cause: 'b', nodes: ['w3'] },
    ])
  })

  it.each([
    { name: 'the same everywhere', others: taken('cp1 w1 w2 w3'), racing: 0, certain: ['w1', 'w2', 'w3'] },
    { name: 'other in one', others: taken('cp1 w1 w3 w2'), racing: 0, certain: ['w1'] },
    { name: 'the same, of nodes that race', others: taken('cp1 w1 w2 w3'), racing: 2, certain: ['w3'] },
    { name: 'the same, after the operator moved', others: taken('cp1 w1 w2 w3', true), racing: 0, certain: [] },
  ])('knows the places in an order that is $name', ({ others, racing, certain }) => {
    const planned = report([run({}), run({ taken: others })], racing)
    expect(planned.waves.map(({ nodes }) => nodes.map(({ name }) => name))).toEqual([['cp1'], ['w1', 'w2', 'w3']])
    const known = planned.waves[1]?.nodes.filter((node) => node.certain).map(({ name }) => name)
    expect(known).toEqual(certain)
  })

  it('shows the order of the one that went furthest', () => {
    const planned = report([run({ taken: taken('cp1 w1'), phase: 'Failed' }), run({})])
    expect(planned.waves.map(({ nodes }) => nodes.map(({ name }) => name))).toEqual([['cp1'], ['w1', 'w2', 'w3']])
    expect(planned.waves[1]?.nodes.map(({ certain }) => certain)).toEqual([true, false, false])
  })

  it('tells how long it takes, and which pods find no node', () => {
    const lost = new Map([['Deployment shop/web', { pods: 2, message: '0/3 nodes' }]])
    const planned = report([
      run({ durationMs: 90_000, unplaced: lost }),
      run({ durationMs: 30_000 }),
      run({ durationMs: 60_000 }),
    ])
    expect(planned.durationSeconds).toEqual({ least: 30, expected: 60, most: 90 })
    expect(planned.unplaced).toEqual([
      { certainty: 'possible', workload: 'Deployment shop/web', pods: 2, message: '0/3 nodes' },
    ])
  })
})
