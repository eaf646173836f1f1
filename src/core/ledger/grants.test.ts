import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Claim, decideGrants, type LedgerView, type Request } from './grants.ts'

const worker = (node: string): Request => ({ node, nodeUID: `uid-${node}`, role: 'Worker' })
const controlPlane = (node: string): Request => ({ node, nodeUID: `uid-${node}`, role: 'ControlPlane' })
const view = (part: Partial<LedgerView> = {}): LedgerView => ({
  paused: false,
  budgets: [],
  away: new Set(),
  controlPlaneAway: new Set(),
  holderOf: () => undefined,
  ...part,
})
const claim = (requests: readonly Request[], part: Partial<Claim> = {}): Claim => ({
  holder: 'a',
  requests,
  limit: { maxUnavailable: 100, counted: 0 },
  ...part,
})
const budget = (maxUnavailable: number, name = 'cluster') => ({ name, maxUnavailable })
const workers = ['w1', 'w2', 'w3', 'w4'].map(worker)

/** What was decided, in words: `w1` is granted, `w2: Code: message` must wait. */
const decide = (given: Partial<LedgerView>, ...claims: readonly Claim[]) =>
  decideGrants(view(given), claims).map((verdict) =>
    verdict.verdict === 'granted'
      ? `${verdict.holder} ${verdict.request.node}`
      : `${verdict.holder} ${verdict.request.node} ${verdict.reason.code}: ${verdict.reason.message}`,
  )

describe('grants', () => {
  it.each<[string, Partial<LedgerView>, readonly Claim[], readonly string[]]>([
    ['without budgets the limit alone holds', {}, [claim(workers)], ['a w1', 'a w2', 'a w3', 'a w4']],
    [
      'a budget is spent node by node',
      { budgets: [budget(2)] },
      [claim(workers)],
      ['a w1', 'a w2', 'a w3 BudgetSpent: budget "cluster" allows 2 node(s) away; w1, w2 already are'],
    ],
    [
      'a node that is away for its own reasons counts',
      { budgets: [budget(1)], away: new Set(['dead']) },
      [claim(workers)],
      ['a w1 BudgetSpent: budget "cluster" allows 1 node(s) away; dead already is'],
    ],
    [
      'a node already away costs nothing, even over the budget',
      { budgets: [budget(1)], away: new Set(['w1', 'dead']) },
      [claim([worker('w1'), worker('w2')])],
      ['a w1', 'a w2 BudgetSpent: budget "cluster" allows 1 node(s) away; w1, dead already are'],
    ],
    [
      'the tightest of several budgets holds',
      { budgets: [budget(3), budget(1, 'cluster 2')] },
      [claim(workers)],
      ['a w1', 'a w2 BudgetSpent: budget "cluster 2" allows 1 node(s) away; w1 already is'],
    ],
    [
      'a long list is cut',
      { budgets: [budget(5)], away: new Set(['d1', 'd2', 'd3', 'd4', 'd5']) },
      [claim(workers)],
      ['a w1 BudgetSpent: budget "cluster" allows 5 node(s) away; d1, d2, d3 and 2 more already are'],
    ],
    [
      'a paused policy starts nothing, not even on a node that is away',
      { paused: true, away: new Set(['w1']) },
      [claim(workers)],
      ['a w1 PolicyPaused: MaintenancePolicy/default is paused: nothing new starts'],
    ],
    [
      'another operation holds the node',
      { away: new Set(['w1']), holderOf: (node) => (node === 'w1' ? 'b' : undefined) },
      [claim([worker('w1')])],
      ['a w1 NodeHeldElsewhere: w1 is held by b'],
    ],
    [
      'its own hold is no obstacle',
      { budgets: [budget(1)], away: new Set(['w1']), holderOf: () => 'a' },
      [claim([worker('w1')])],
      ['a w1'],
    ],
    [
      'what one claim gets in a pass is not given to the next',
      {},
      [claim([worker('w1')]), claim([worker('w1'), worker('w2')], { holder: 'b' })],
      ['a w1', 'b w2', 'b w1 NodeHeldElsewhere: w1 is held by a'],
    ],
    [
      'one control-plane node at a time',
      {},
      [claim([controlPlane('c1'), controlPlane('c2')])],
      ['a c1', 'a c2 ControlPlaneBusy: c1 of the control plane is away; only one node of it may be at a time'],
    ],
    [
      'also across claims',
      {},
      [claim([controlPlane('c1')]), claim([controlPlane('c2')], { holder: 'b' })],
      ['a c1', 'b c2 ControlPlaneBusy: c1 of the control plane is away; only one node of it may be at a time'],
    ],
    [
      'a control-plane node that is away bars the others',
      { away: new Set(['c2', 'c3']), controlPlaneAway: new Set(['c2', 'c3']) },
      [claim([controlPlane('c1')])],
      ['a c1 ControlPlaneBusy: c2, c3 of the control plane are away; only one node of it may be at a time'],
    ],
    [
      'but not itself',
      { away: new Set(['c1']), controlPlaneAway: new Set(['c1']) },
      [claim([controlPlane('c1')])],
      ['a c1'],
    ],
    [
      'a worker does not mind the control plane',
      { controlPlaneAway: new Set(['c1']) },
      [claim([worker('w1')])],
      ['a w1'],
    ],
    [
      'the first claim is served first',
      { budgets: [budget(2)] },
      [claim([worker('w3')], { holder: 'b' }), claim([worker('w1'), worker('w2')])],
      ['b w3', 'a w1', 'a w2 BudgetSpent: budget "cluster" allows 2 node(s) away; w3, w1 already are'],
    ],
    [
      "the operation's own limit",
      {},
      [claim(workers, { limit: { maxUnavailable: 3, counted: 1 } })],
      ['a w1', 'a w2', 'a w3 BudgetSpent: the update works on 3 node(s) at once (strategy.maxUnavailable)'],
    ],
    [
      "nodes that are not Ready count against the operation's own limit and are named",
      {},
      [claim(workers, { limit: { maxUnavailable: 2, counted: 2, notReady: new Set(['w8', 'w9']) } })],
      [
        'a w1 BudgetSpent: the update works on 2 node(s) at once (strategy.maxUnavailable); w8, w9 are not Ready and counted',
      ],
    ],
    [
      'the limit holds for nodes already away, too',
      { away: new Set(['w1', 'w2']) },
      [claim(workers, { limit: { maxUnavailable: 1, counted: 0 } })],
      ['a w1', 'a w2 BudgetSpent: the update works on 1 node(s) at once (strategy.maxUnavailable)'],
    ],
    [
      'a held claim says why, and the next one goes on',
      {},
      [
        claim(workers, { held: { code: 'FailuresReached', message: 'nothing more starts: w9 failed' } }),
        claim([worker('w2')], { holder: 'b' }),
      ],
      ['a w1 FailuresReached: nothing more starts: w9 failed', 'b w2'],
    ],
    ['a claim without wishes', {}, [claim([])], []],
  ])('%s', (_name, given, claims, expected) => {
    expect(decide(given, ...claims)).toEqual(expected)
  })

  it('asks no further than the first node that must wait', () => {
    let asked = 0
    function* many(): Generator<Request> {
      while (asked < 100) yield worker(`w${++asked}`)
    }
    decideGrants(view({ budgets: [budget(3)] }), [{ ...claim([]), requests: many() }])
    expect(asked).toBe(4)
  })
})

describe('the laws of grants', () => {
  const names = ['c1', 'c2', 'c3', 'w1', 'w2', 'w3', 'w4', 'w5']
  const requestOf = (name: string) => (name.startsWith('c') ? controlPlane(name) : worker(name))
  const subset = fc.uniqueArray(fc.constantFrom(...names))
  const holders = ['a', 'b', 'c']
  const given = fc
    .record({
      paused: fc.boolean(),
      budgets: fc.array(fc.integer({ min: 1, max: 6 }), { maxLength: 3 }),
      away: subset,
      held: fc.dictionary(fc.constantFrom(...names), fc.constantFrom(...holders), { noNullPrototype: true }),
      asked: fc.array(fc.record({ nodes: subset, max: fc.integer({ min: 1, max: 4 }), counted: fc.nat(4) }), {
        maxLength: 3,
      }),
    })
    .map(({ paused, budgets, away, held, asked }) => {
      const all = new Set([...away, ...Object.keys(held)])
      return {
        paused,
        away: all,
        held,
        maxima: budgets,
        ledger: view({
          paused,
          budgets: budgets.map((max) => budget(max)),
          away: all,
          controlPlaneAway: new Set([...all].filter((name) => name.startsWith('c'))),
          holderOf: (node) => held[node],
        }),
        claims: asked.map(({ nodes, max, counted }, index) =>
          claim(nodes.map(requestOf), { holder: holders[index] ?? '', limit: { maxUnavailable: max, counted } }),
        ),
      }
    })

  it('rule 1: nobody is taken away beyond any budget, counting everybody who is away', () => {
    fc.assert(
      fc.property(given, ({ ledger, claims, away, maxima, paused }) => {
        const granted = decideGrants(ledger, claims).filter(({ verdict }) => verdict === 'granted')
        const fresh = new Set(granted.map(({ request }) => request.node).filter((node) => !away.has(node)))
        for (const max of maxima) expect(fresh.size === 0 || away.size + fresh.size <= max).toBe(true)
        if (paused) expect(granted).toEqual([])
      }),
      { numRuns: 1000 },
    )
  })

  it('rule 2: at most one control-plane node is taken, and none while another is away', () => {
    fc.assert(
      fc.property(given, ({ ledger, claims }) => {
        const taken = decideGrants(ledger, claims)
          .filter(({ verdict, request }) => verdict === 'granted' && request.role === 'ControlPlane')
          .map(({ request }) => request.node)
        const away = new Set([...ledger.controlPlaneAway, ...taken])
        if (taken.length > 0) expect(away.size).toBe(1)
      }),
      { numRuns: 1000 },
    )
  })

  it('each node goes to one holder; limits hold; each claim ends with its wait; claims in order', () => {
    fc.assert(
      fc.property(given, ({ ledger, claims, held }) => {
        const verdicts = decideGrants(ledger, claims)
        const granted = verdicts.filter(({ verdict }) => verdict === 'granted')
        expect(new Set(granted.map(({ request }) => request.node)).size).toBe(granted.length)
        for (const { holder, request } of granted) expect([undefined, holder]).toContain(held[request.node])
        const turns = verdicts.map(({ holder }) => holders.indexOf(holder))
        expect(turns).toEqual([...turns].sort((a, b) => a - b))
        for (const { holder, requests, limit } of claims) {
          const own = verdicts.filter((verdict) => verdict.holder === holder)
          const taken = own.filter(({ verdict }) => verdict === 'granted').length
          expect(taken === 0 || limit.counted + taken <= limit.maxUnavailable).toBe(true)
          const order = [...requests]
          const places = own.filter(({ verdict }) => verdict === 'granted').map(({ request }) => order.indexOf(request))
          expect(places).toEqual([...places].sort((a, b) => a - b))
          expect(own.slice(0, -1).every(({ verdict }) => verdict === 'granted')).toBe(true)
        }
      }),
      { numRuns: 1000 },
    )
  })

  it('what is free to take is taken: a claim waits only for a reason that holds', () => {
    fc.assert(
      fc.property(subset, fc.integer({ min: 1, max: 8 }), subset, (away, max, asked) => {
        const requests = asked.filter((name) => name.startsWith('w')).map(requestOf)
        const verdicts = decideGrants(view({ budgets: [budget(max)], away: new Set(away) }), [claim(requests)])
        const taken = verdicts.filter(({ verdict }) => verdict === 'granted')
        if (taken.length === requests.length) return
        const blocked = verdicts.at(-1)
        const all = new Set([...away, ...taken.map(({ request }) => request.node)])
        expect(blocked?.verdict).toBe('waiting')
        expect(all.has(blocked?.request.node ?? '')).toBe(false)
        expect(all.size).toBeGreaterThanOrEqual(max)
      }),
    )
  })
})
