import { describe, expect, it } from 'vitest'
import {
  at,
  draining,
  type Given,
  id,
  operation,
  order,
  ours,
  report,
  rollout,
  setRollout,
  viewOf,
  wait,
} from '../../../test/samples/node-views.ts'
import { decideNode } from './decide-node.ts'

describe('putting back', () => {
  const working = rollout('Working', { deadline: at(1800) })
  const prior = { cordon: { prior: 'Unschedulable' } } as const
  const cases: [string, Given, object][] = [
    ['before anything was done', {}, { action: 'returnGrant' }],
    ['cordoned', { node: ours }, { action: 'uncordon' }],
    ['draining, no order', { node: ours, rollout: draining }, { action: 'uncordon' }],
    ['uncordoned, marks left', { rollout: draining }, { action: 'clear' }],
    [
      'an order stands: it is withdrawn',
      { node: ours, rollout: working, order: order() },
      { action: 'setOrder', order: order({ desired: 'Withdraw' }) },
    ],
    [
      'also when it runs',
      { node: ours, rollout: working, order: order(), report: report('Running') },
      { action: 'setOrder', order: order({ desired: 'Withdraw' }) },
    ],
    [
      'and waited for, however long',
      { node: ours, rollout: working, order: order({ desired: 'Withdraw' }), report: report('Running'), now: 99_999 },
      wait(),
    ],
    [
      'a word on another order is none',
      {
        node: ours,
        rollout: working,
        order: order({ desired: 'Withdraw' }),
        report: report('Withdrawn', { id: `${id}/0` }),
      },
      wait(),
    ],
    [
      'withdrawn',
      { node: ours, rollout: working, order: order({ desired: 'Withdraw' }), report: report('Withdrawn') },
      { action: 'uncordon' },
    ],
    [
      'failed',
      { node: ours, rollout: rollout('Failed'), order: order(), report: report('Failed') },
      { action: 'uncordon' },
    ],
    [
      'the agent is stuck: it would go on when it is repaired',
      { node: ours, rollout: working, order: order(), report: report('RequiresAttention') },
      { action: 'setOrder', order: order({ desired: 'Withdraw' }) },
    ],
    [
      'the agent is stuck and will find its order withdrawn',
      { node: ours, rollout: working, order: order({ desired: 'Withdraw' }), report: report('RequiresAttention') },
      { action: 'uncordon' },
    ],
    ["a person's cordon stays", { node: { cordoned: true }, rollout: { ...working, ...prior } }, { action: 'clear' }],
    ['uncordoned and cleared', { node: {} }, { action: 'returnGrant' }],
    [
      'done anyway',
      { node: {}, rollout: rollout('Done'), order: order(), report: report('Succeeded') },
      { action: 'returnGrant' },
    ],
    ["another operation's order is not ours to end", { order: order({ id: 'older/1/1' }) }, { action: 'returnGrant' }],
    [
      "another operation's marks are not ours to clear",
      { rollout: rollout('Failed', { operationID: 'older/1' }) },
      { action: 'returnGrant' },
    ],
  ]
  it.each(cases)('%s', (_name, given, expected) => {
    expect(decideNode(viewOf({ ...given, gone: true }))).toEqual(expected)
  })

  it('also when the update became another operation', () => {
    const view = {
      ...viewOf({ node: ours, rollout: draining }),
      operation: { ...operation, id: 'to-1-36/01234567-2-def' },
    }
    expect(decideNode(view)).toEqual({ action: 'uncordon' })
  })
})

describe('without a slot', () => {
  it.each<[string, Given, object]>([
    ['nothing to do', {}, wait()],
    ["a person's cordon", { node: { cordoned: true } }, wait()],
    ['a cordon of ours left behind', { node: ours }, { action: 'uncordon' }],
    ['failed, put back by a person, and gone', { node: {}, rollout: rollout('Failed') }, { action: 'clear' }],
    ['done, a cordon of ours left behind', { node: ours, rollout: rollout('Done') }, { action: 'uncordon' }],
    ['under work: the ledger was lost', { node: ours, rollout: draining }, { action: 'regrant', holder: id }],
    ['failed: the ledger was lost', { node: ours, rollout: rollout('Failed') }, { action: 'regrant', holder: id }],
    [
      'needs a person: the ledger was lost',
      { node: ours, rollout: rollout('RequiresAttention') },
      { action: 'regrant', holder: id },
    ],
  ])('%s', (_name, given, expected) => {
    expect(decideNode(viewOf({ ...given, grant: null, gone: true }))).toEqual(expected)
  })

  it.each<[string, Given, object]>([
    ['done with our cordon', { node: ours, rollout: rollout('Done') }, { action: 'uncordon' }],
    ["done under a person's cordon", { node: { cordoned: true }, rollout: rollout('Done') }, { action: 'returnGrant' }],
    [
      'done, cordoned again by us after a person uncordoned it',
      { node: ours, rollout: rollout('Done', { cordon: { prior: 'Unschedulable' } }) },
      { action: 'uncordon' },
    ],
    [
      'done, and the next operation takes it over as it stands',
      { node: ours, rollout: rollout('Done'), successor: true },
      { action: 'returnGrant' },
    ],
    ['failed, and put back by a person', { node: {}, rollout: rollout('Failed') }, { action: 'returnGrant' }],
    ['failed is never handed over', { node: ours, rollout: rollout('Failed'), successor: true }, wait()],
  ])('at rest with a slot: %s', (_name, given, expected) => {
    expect(decideNode(viewOf(given))).toEqual(expected)
  })
})

describe('a node that a person put back', () => {
  const withdrawn = order({ desired: 'Withdraw' })
  const stuck = report('RequiresAttention')
  const corrupt = { reason: { code: 'JournalCorrupt', message: 'look at order.json', since: at(7) } } as const
  const needed = rollout('RequiresAttention', { since: at(7), ...corrupt })
  const failed = rollout('Failed', { since: at(9), ...corrupt })
  const ends: object = { action: 'setOrder', order: withdrawn }
  it.each<[string, Given, object]>([
    ['its agent is stuck: the order ends first', { rollout: needed, order: order(), report: stuck }, ends],
    [
      'what was asked back ends as well',
      { rollout: needed, order: order({ desired: 'PutBack' }), report: stuck },
      ends,
    ],
    [
      'its agent is stuck and will find the order withdrawn: it counts as failed',
      { rollout: needed, order: withdrawn, report: stuck },
      setRollout(failed),
    ],
    [
      'its agent was repaired, and obeyed: it is not taken again',
      { rollout: needed, order: withdrawn, report: report('Withdrawn') },
      setRollout(failed),
    ],
    [
      'its agent was repaired, and has not obeyed yet',
      { rollout: needed, order: withdrawn, report: report('Running') },
      wait(),
    ],
    ['its agent never took the order', { rollout: needed, order: order() }, ends],
    ['its agent is silent', { rollout: needed, order: order(), report: report('Running') }, ends],
    ['failed, with the slot', { rollout: failed, order: withdrawn, report: stuck }, { action: 'returnGrant' }],
    ['failed, and its journal is damaged since', { rollout: failed, order: order(), report: stuck }, ends],
    [
      'failed, without the slot',
      { rollout: failed, order: withdrawn, report: stuck, grant: null, staging: true },
      wait(),
    ],
    [
      'failed, without the slot, and its journal is damaged since',
      {
        rollout: { ...failed, cordon: { prior: 'Schedulable' } },
        order: order(),
        report: stuck,
        grant: null,
        staging: true,
      },
      ends,
    ],
    [
      'done, and its journal is damaged since',
      { rollout: rollout('Done'), order: order(), report: stuck, grant: null },
      ends,
    ],
    ['done, the same withdrawn', { rollout: rollout('Done'), order: withdrawn, report: stuck, grant: null }, wait()],
  ])('%s', (_name, given, expected) => {
    expect(decideNode(viewOf({ node: {}, now: 9, ...given }))).toEqual(expected)
  })

  it('is told of as long as its operation is there, and not taken again by itself', () => {
    const view = viewOf({ node: {}, rollout: rollout('Failed'), grant: null, staging: true })
    expect(decideNode(view)).toEqual(wait())
  })
})
