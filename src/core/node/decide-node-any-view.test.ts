import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { at, type Given, id, lastStates, mayRun, report, viewOf } from '../../../test/samples/node-views.ts'
import { type AgentOrder, nodePhases } from '../../api/node-state.ts'
import { decideNode } from './decide-node.ts'

describe('for any view at all, also one that cannot be', () => {
  const some = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })
  const ids = fc.constantFrom(id, 'other/1')
  const states = fc.constantFrom<AgentOrder['state']>('Accepted', 'Running', 'RequiresAttention', ...lastStates)
  const view = fc
    .record({
      cordoned: fc.boolean(),
      mark: some(ids),
      ready: fc.constantFrom('True' as const, 'False' as const),
      rollout: some(
        fc.tuple(
          ids,
          fc.constantFrom(...nodePhases),
          fc.constantFrom('Schedulable' as const, 'Unschedulable' as const),
        ),
      ),
      order: some(fc.tuple(ids, fc.constantFrom('Run' as const, 'Withdraw' as const))),
      answer: some(fc.tuple(ids, states)),
      granted: some(ids),
      gone: fc.boolean(),
      left: some(fc.nat(2)),
      now: fc.nat(4000),
      grace: fc.nat(4000),
    })
    .map(({ cordoned, mark, ready, rollout, order, answer, granted, gone, left, now, grace }): Given => {
      const base = { update: 'to-1-36', attempt: 1 }
      return {
        node: { cordoned, ready, ...(mark !== undefined && { mark }) },
        grant: granted ?? null,
        gone,
        now,
        grace,
        ...(rollout && {
          rollout: {
            ...base,
            operationID: rollout[0],
            phase: rollout[1],
            since: at(0),
            deadline: at(1000),
            cordon: { prior: rollout[2] },
          },
        }),
        ...(order && {
          order: {
            ...{
              id: `${order[0]}/1`,
              update: 'to-1-36',
              nodeUID: 'uid-w1',
              epoch: 7,
              role: 'Worker',
              offline: 'Refused',
            },
            ...{ desired: order[1], timeout: '30m', work: {} },
          },
        }),
        ...(answer && { report: report(answer[1], { id: `${answer[0]}/1` }) }),
        ...(left !== undefined && { drain: { total: 2, left, blocked: [] } }),
      }
    })

  it('a node that is being emptied says why it is not empty', () => {
    fc.assert(
      fc.property(view, (given) => {
        const decision = decideNode(viewOf(given))
        if (decision.action !== 'setRollout' || decision.rollout.phase !== 'Draining') return
        expect(decision.rollout.reason?.message).toMatch(/./)
        expect(decision.rollout.reason?.since).toMatch(/./)
      }),
      { numRuns: 3000 },
    )
  })

  it("no person's cordon is removed, no slot returned under its own order, nothing touched without a slot", () => {
    fc.assert(
      fc.property(view, (given) => {
        const decision = decideNode(viewOf(given))
        const { action } = decision
        if (given.grant === null && decision.action === 'setOrder') expect(decision.order.desired).toBe('Withdraw')
        if (action === 'uncordon') expect(given.node?.mark).toBeDefined()
        if (given.grant === null) expect(['wait', 'uncordon', 'regrant', 'clear', 'setOrder']).toContain(action)
        const { rollout, order } = given
        const own = order?.id.startsWith(`${given.grant}/`) && mayRun(order, given.report)
        // At rest is written after the order's last word only, and an order after its rollout.
        const real = rollout?.operationID === given.grant && rollout?.phase !== 'Done'
        if (action === 'returnGrant' && real) expect(own ?? false).toBe(false)
        if (given.gone && own) expect(['setOrder', 'wait']).toContain(action)
      }),
      { numRuns: 3000 },
    )
  })
})
