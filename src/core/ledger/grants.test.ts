import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type DatedClaim, decideGrants, type LedgerView, passedOver, type Request } from './grants.ts'
import type { Budget } from './tally.ts'

const worker = (node: string): Request => ({ node, nodeUID: `uid-${node}`, role: 'Worker' })
const controlPlane = (node: string): Request => ({ node, nodeUID: `uid-${node}`, role: 'ControlPlane' })

/** A ledger in few words; budgets are of the whole cluster where they do not say whose they are. */
interface Given extends Partial<Omit<LedgerView, 'unavailable' | 'held'>> {
  readonly budgets?: readonly Budget[]
  readonly away?: readonly string[]
  readonly held?: Readonly<Record<string, string>>
}
const view = ({ budgets = [], away = [], held = {}, ...part }: Given = {}): LedgerView => ({
  paused: false,
  budgetsOf: () => budgets,
  unavailable: new Set(away),
  held: new Map(Object.entries(held)),
  controlPlaneAway: new Set(),
  causeOf: () => 'not Ready',
  ...part,
})
const claim = (requests: readonly Request[], part: Partial<DatedClaim> = {}): DatedClaim => ({
  holder: 'a/1',
  requests,
  since: 0,
  limit: { maxUnavailable: 100, counted: 0 },
  ...part,
})
const budget = (maxUnavailable: number, name = 'cluster'): Budget => ({ name, maxUnavailable })
const workers = ['w1', 'w2', 'w3', 'w4'].map(worker)
const b = { holder: 'b/1', since: 1 }

/** What was decided, in words: `w1` is granted, `w2: Code: message` must wait. */
const decide = (given: Given, ...claims: readonly DatedClaim[]) =>
  decideGrants(view(given), claims).map((verdict) =>
    verdict.verdict === 'granted'
      ? `${verdict.holder} ${verdict.request.node}`
      : `${verdict.holder} ${verdict.request.node} ${verdict.reason.code}: ${verdict.reason.message}`,
  )
const nothing =
  'nothing can start: cluster: 1 of 1 away: dead (not Ready); bring back what is away, or raise spec.budgets of MaintenancePolicy default'

/** Each zone its own budget of one. */
const zones = (away: Readonly<Record<string, readonly string[]>>): LedgerView['budgetsOf'] => {
  const sets = new Map(['a', 'b'].map((zone) => [zone, { ...budget(1, `zone ${zone}`), away: new Set(away[zone]) }]))
  return (node) => [sets.get(node.slice(0, 1)) ?? budget(100)]
}

describe('grants', () => {
  it.each<[string, Given, readonly DatedClaim[], readonly string[]]>([
    ['without budgets the limit alone holds', {}, [claim(workers)], ['a/1 w1', 'a/1 w2', 'a/1 w3', 'a/1 w4']],
    [
      'the last node that takes pods waits for those that are worked on',
      { takingPods: new Set(['w1', 'w2', 'w3']), away: ['dead'] },
      [claim(workers.slice(0, 3))],
      ['a/1 w1', 'a/1 w2', 'a/1 w3 BudgetSpent: w3 is the last node that takes pods until w1, w2 are back'],
    ],
    [
      'one that is out already counts as well, whoever holds it',
      { takingPods: new Set(['w1', 'w2']), away: ['w1'], held: { w1: 'b/1' } },
      [claim([worker('w2')])],
      ['a/1 w2 BudgetSpent: w2 is the last node that takes pods until w1 is back'],
    ],
    ['the only node that takes pods may go', { takingPods: new Set(['w1']) }, [claim([worker('w1')])], ['a/1 w1']],
    [
      'nobody waits for nodes that are down',
      { takingPods: new Set(['w1', 'w2']), away: ['w2'] },
      [claim([worker('w1')])],
      ['a/1 w1'],
    ],
    [
      'a node that takes none is not kept for their sake',
      { takingPods: new Set(['w1']), held: { w1: 'b/1' }, away: ['w1'] },
      [claim([controlPlane('cp1')])],
      ['a/1 cp1'],
    ],
    [
      'a budget is spent node by node',
      { budgets: [budget(2)] },
      [claim(workers)],
      ['a/1 w1', 'a/1 w2', 'a/1 w3 BudgetSpent: cluster: 2 of 2 away: w1 (held by a/1), w2 (held by a/1)'],
    ],
    [
      'a node that is away for its own reasons counts, and nothing of ours will bring it back',
      { budgets: [budget(1)], away: ['dead'] },
      [claim(workers)],
      [`a/1 w1 BudgetAllowsNothing: ${nothing}`],
    ],
    [
      'a node already away costs nothing, even over the budget',
      { budgets: [budget(1)], away: ['w1', 'dead'] },
      [claim([worker('w1'), worker('w2')])],
      [
        'a/1 w1',
        `a/1 w2 BudgetAllowsNothing: ${nothing.replace('1 of 1 away: dead', '2 of 1 away: w1 (not Ready), dead')}`,
      ],
    ],
    [
      'a node that is away and held will be back',
      { budgets: [budget(1)], away: ['w1'], held: { w1: 'b/1' } },
      [claim([worker('w2')])],
      ['a/1 w2 BudgetSpent: cluster: 1 of 1 away: w1 (held by b/1)'],
    ],
    [
      'a node that failed comes back when a person has looked at it',
      { budgets: [budget(1)], away: ['w1'], held: { w1: 'b/1' }, isBroken: () => true },
      [claim([worker('w2')])],
      [
        'a/1 w2 FailedNodesInTheWay: nothing can start: cluster: 1 of 1 away: w1 (failed for b/1); slipway why w1 tells what failed and what goes on; slipway release w1 does without it',
      ],
    ],
    [
      'so does one of the control plane',
      { controlPlaneAway: new Set(['cp1']), held: { cp1: 'b/1' }, isBroken: () => true },
      [claim([controlPlane('cp2')])],
      [
        'a/1 cp2 FailedNodesInTheWay: nothing can start: cp1 of the control plane is away; only one node of it may be at a time; slipway why cp1 tells what failed and what goes on; slipway release cp1 does without it',
      ],
    ],
    [
      'who failed among others that work is waited for with them',
      { budgets: [budget(2)], held: { w1: 'b/1', w3: 'b/1' }, isBroken: (name) => name === 'w1' },
      [claim([worker('w2')])],
      ['a/1 w2 BudgetSpent: cluster: 2 of 2 away: w1 (failed for b/1), w3 (held by b/1)'],
    ],
    [
      'a node with a cordon of ours and no slot may be back at any moment: it counts like any other',
      { budgets: [budget(1)], away: ['w1', 'w2'], held: { w2: 'b/1' }, isOursToPutBack: () => true },
      [claim([worker('w1')])],
      ['a/1 w1 BudgetSpent: cluster: 1 of 1 away: w2 (held by b/1)'],
    ],
    [
      'and is taken over as it is where the budget allows it',
      { budgets: [budget(1)], away: ['w1'], isOursToPutBack: () => true },
      [claim([worker('w1')])],
      ['a/1 w1'],
    ],
    [
      'the tightest of several budgets holds',
      { budgets: [budget(3), budget(1, 'pool=a')] },
      [claim(workers)],
      ['a/1 w1', 'a/1 w2 BudgetSpent: pool=a: 1 of 1 away: w1 (held by a/1)'],
    ],
    [
      'a long list is cut',
      { budgets: [budget(5)], away: ['d1', 'd2', 'd3', 'd4'], held: { w9: 'b/1' } },
      [claim(workers)],
      ['a/1 w1 BudgetSpent: cluster: 5 of 5 away: d1 (not Ready), d2 (not Ready), d3 (not Ready) and 2 more'],
    ],
    [
      'a set that is spent keeps its own nodes, not those of another',
      { budgetsOf: zones({ a: ['a3'] }) },
      [claim(['a1', 'a2', 'b1', 'b2'].map(worker))],
      ['a/1 b1', `a/1 a1 BudgetAllowsNothing: ${nothing.replace('cluster', 'zone a').replace('dead', 'a3')}`],
    ],
    [
      'a slot counts in its own set before its node is cordoned',
      { budgetsOf: zones({}), held: { a2: 'b/1' } },
      [claim(['a1', 'b1', 'b2'].map(worker))],
      ['a/1 b1', 'a/1 a1 BudgetSpent: zone a: 1 of 1 away: a2 (held by b/1)'],
    ],
    [
      'a node that a stranger works on counts',
      { budgets: [budget(1)], foreign: new Map([['w3', 'locked by kured']]) },
      [claim([worker('w1')])],
      ['a/1 w1 BudgetSpent: cluster: 1 of 1 away: w3 (locked by kured)'],
    ],
    [
      'a node that a stranger works on is left to them',
      { foreign: new Map([['w1', 'locked by kured']]) },
      [claim([worker('w1'), worker('w2')])],
      ['a/1 w2', 'a/1 w1 ForeignLockHeld: w1 is locked by kured'],
    ],
    [
      'a lock of somebody else keeps everything back',
      { locked: { code: 'ForeignLockHeld', message: 'w9 holds it' } },
      [claim(workers)],
      ['a/1 w1 ForeignLockHeld: w9 holds it'],
    ],
    [
      'a node on hold is passed over',
      { onHold: (node) => (node === 'w1' ? 'ana: disk' : undefined) },
      [claim([worker('w1'), worker('w2')])],
      ['a/1 w2', 'a/1 w1 NodeOnHold: w1 is on hold (ana: disk); slipway release w1'],
    ],
    [
      'a paused policy starts nothing, not even on a node that is away',
      { paused: true, away: ['w1'] },
      [claim(workers)],
      ['a/1 w1 PolicyPaused: MaintenancePolicy/default is paused: nothing new starts'],
    ],
    [
      'another operation holds the node',
      { held: { w1: 'b/1' } },
      [claim([worker('w1')])],
      ['a/1 w1 NodeHeldElsewhere: w1 is held by b/1'],
    ],
    ['its own hold is no obstacle', { budgets: [budget(1)], held: { w1: 'a/1' } }, [claim([worker('w1')])], ['a/1 w1']],
    [
      'what one claim gets in a pass is not given to the next',
      {},
      [claim([worker('w1')]), claim([worker('w1'), worker('w2')], b)],
      ['a/1 w1', 'b/1 w2', 'b/1 w1 NodeHeldElsewhere: w1 is held by a/1'],
    ],
    [
      'one control-plane node at a time',
      {},
      [claim([controlPlane('c1'), controlPlane('c2')])],
      ['a/1 c1', 'a/1 c2 ControlPlaneBusy: c1 of the control plane is away; only one node of it may be at a time'],
    ],
    [
      'also across claims',
      {},
      [claim([controlPlane('c1')]), claim([controlPlane('c2')], b)],
      ['a/1 c1', 'b/1 c2 ControlPlaneBusy: c1 of the control plane is away; only one node of it may be at a time'],
    ],
    [
      'a control-plane node that is away bars the others',
      { away: ['c2', 'c3'], controlPlaneAway: new Set(['c2', 'c3']) },
      [claim([controlPlane('c1')])],
      ['a/1 c1 ControlPlaneBusy: c2, c3 of the control plane are away; only one node of it may be at a time'],
    ],
    ['but not itself', { away: ['c1'], controlPlaneAway: new Set(['c1']) }, [claim([controlPlane('c1')])], ['a/1 c1']],
    [
      'what the control plane itself says',
      { controlPlaneObstacle: (node) => ({ code: 'EtcdUnhealthy', message: `${node} would be missed` }) },
      [claim([controlPlane('c1')])],
      ['a/1 c1 EtcdUnhealthy: c1 would be missed'],
    ],
    [
      'a worker does not mind the control plane',
      { controlPlaneAway: new Set(['c1']) },
      [claim([worker('w1')])],
      ['a/1 w1'],
    ],
    [
      'slots go round, the oldest request first',
      { budgets: [budget(3)] },
      [claim([worker('w3')], { since: 5 }), claim(['w1', 'w2', 'w4'].map(worker), b)],
      [
        'b/1 w1',
        'a/1 w3',
        'b/1 w2',
        'b/1 w4 BudgetSpent: cluster: 3 of 3 away: w1 (held by b/1), w3 (held by a/1), w2 (held by b/1)',
      ],
    ],
    [
      'who had one last waits behind who had none',
      { budgets: [budget(1)], served: new Map([['a', 9]]) },
      [claim([worker('w1')]), claim([worker('w2')], b)],
      ['b/1 w2', 'a/1 w1 BudgetSpent: cluster: 1 of 1 away: w2 (held by b/1)'],
    ],
    [
      'all maintenance takes one turn, its oldest wish first',
      { budgets: [budget(2)] },
      [
        claim([worker('w1')], { holder: 'maintenance:w1/x', since: 0 }),
        claim([worker('w2')], { holder: 'maintenance:w2/x', since: 1 }),
        claim([worker('w3')], { holder: 'up/1', since: 2 }),
      ],
      [
        'maintenance:w1/x w1',
        'up/1 w3',
        'maintenance:w2/x w2 BudgetSpent: cluster: 2 of 2 away: w1 (held by maintenance:w1/x), w3 (held by up/1)',
      ],
    ],
    [
      'the control plane goes before older requests',
      { budgets: [budget(1)] },
      [claim([worker('w1')]), claim([controlPlane('c1')], b)],
      ['b/1 c1', 'a/1 w1 BudgetSpent: cluster: 1 of 1 away: c1 (held by b/1)'],
    ],
    [
      "the operation's own limit",
      {},
      [claim(workers, { limit: { maxUnavailable: 3, counted: 1 } })],
      ['a/1 w1', 'a/1 w2', 'a/1 w3 BudgetSpent: the update works on 3 node(s) at once (strategy.maxUnavailable)'],
    ],
    [
      "nodes that are not Ready count against the operation's own limit and are named",
      {},
      [claim(workers, { limit: { maxUnavailable: 2, counted: 2, notReady: new Set(['w8', 'w9']) } })],
      [
        'a/1 w1 BudgetSpent: the update works on 2 node(s) at once (strategy.maxUnavailable); w8, w9 are not Ready and counted',
      ],
    ],
    [
      'the limit holds for nodes already away, too',
      { away: ['w1', 'w2'] },
      [claim(workers, { limit: { maxUnavailable: 1, counted: 0 } })],
      ['a/1 w1', 'a/1 w2 BudgetSpent: the update works on 1 node(s) at once (strategy.maxUnavailable)'],
    ],
    [
      'a held claim says why, and the next one goes on',
      {},
      [
        claim(workers, { held: { code: 'FailuresReached', message: 'nothing more starts: w9 failed' } }),
        claim([worker('w2')], b),
      ],
      ['a/1 w1 FailuresReached: nothing more starts: w9 failed', 'b/1 w2'],
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

describe('what is passed over', () => {
  const spent = nothing.replace('cluster', 'zone a').replace('dead', 'a3')
  it.each<[string, Given, string, string | undefined]>([
    ['a node that another holds', { held: { w1: 'b/1' } }, 'w1', 'NodeHeldElsewhere: w1 is held by b/1'],
    ['none of its own', { held: { w1: 'a/1' } }, 'w1', undefined],
    ['one a stranger works on', { foreign: new Map([['w1', 'cut']]) }, 'w1', 'ForeignLockHeld: w1 is cut'],
    ['one on hold', { onHold: () => 'ana' }, 'w1', 'NodeOnHold: w1 is on hold (ana); slipway release w1'],
    ['one of a set that is spent', { budgetsOf: zones({ a: ['a3'] }) }, 'a1', `BudgetAllowsNothing: ${spent}`],
    ['none of another set', { budgetsOf: zones({ a: ['a3'] }) }, 'b1', undefined],
    ['none where the budget of all is spent', { budgets: [budget(1)], away: ['dead'] }, 'w1', undefined],
    [
      'and that also while nothing may start',
      { paused: true, onHold: () => 'ana' },
      'w1',
      'NodeOnHold: w1 is on hold (ana); slipway release w1',
    ],
  ])('%s', (_name, given, node, expected) => {
    const reason = passedOver(view(given))(node, 'a/1')
    expect(reason && `${reason.code}: ${reason.message}`).toBe(expected)
  })
})

describe('the laws of grants', () => {
  const names = ['c1', 'c2', 'c3', 'w1', 'w2', 'w3', 'w4', 'w5']
  const requestOf = (name: string) => (name.startsWith('c') ? controlPlane(name) : worker(name))
  const subset = fc.uniqueArray(fc.constantFrom(...names))
  const holders = ['a/1', 'b/1', 'c/1']
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
          away,
          held,
          controlPlaneAway: new Set([...all].filter((name) => name.startsWith('c'))),
        }),
        claims: asked.map(({ nodes, max, counted }, index) =>
          claim(nodes.map(requestOf), {
            holder: holders[index] ?? '',
            since: index,
            limit: { maxUnavailable: max, counted },
          }),
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

  it('each node goes to one holder; limits hold; each claim gets its nodes in order and ends with its wait', () => {
    fc.assert(
      fc.property(given, ({ ledger, claims, held }) => {
        const verdicts = decideGrants(ledger, claims)
        const granted = verdicts.filter(({ verdict }) => verdict === 'granted')
        expect(new Set(granted.map(({ request }) => request.node)).size).toBe(granted.length)
        for (const { holder, request } of granted) expect([undefined, holder]).toContain(held[request.node])
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
        const verdicts = decideGrants(view({ budgets: [budget(max)], away }), [claim(requests)])
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
