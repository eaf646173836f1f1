import { describe, expect, it } from 'vitest'
import {
  at,
  draining,
  type Given,
  id,
  leaving,
  operation,
  order,
  ours,
  report,
  rollout,
  setRollout,
  viewOf,
  wait,
} from '../../../test/samples/node-views.ts'
import type { Operation } from '../update/operation.ts'
import { decideNode } from './decide-node.ts'

const decide = (given: Given, part: Partial<Operation>) => {
  const view = viewOf(given)
  const steered = { ...operation, ...part }
  return decideNode({ ...view, operation: steered, ...(view.staging && { staging: steered }) })
}
const why = { code: 'StepFailed', message: 'exit code 1' } as const
const failed = rollout('Failed', { reason: why })
const working = rollout('Working', { deadline: at(1800) })
const back = { action: 'setOrder', order: order({ desired: 'PutBack' }) }

describe('a node whose operation is cancelled', () => {
  const { deadline: _deadline, ...drained } = draining
  const stillFailed = setRollout({
    ...{ ...drained, attempt: 2, phase: 'Failed', since: at(9) },
    reason: { ...why, since: at(9) },
  })
  const cases: [string, Given, Operation['cancel'], object][] = [
    ['not touched yet', {}, 'Finish', { action: 'returnGrant' }],
    ['cordoned', { node: ours }, 'Finish', { action: 'uncordon' }],
    ['drains', { node: ours, rollout: draining }, 'Finish', { action: 'uncordon' }],
    ['drained, marks left', { rollout: draining }, 'Finish', { action: 'clear' }],
    [
      'drains, its order only staged',
      { node: ours, rollout: draining, order: order({ desired: 'Stage' }) },
      'Finish',
      { action: 'uncordon' },
    ],
    ['has an order', { node: ours, rollout: working, order: order(), report: report('Running') }, 'Finish', wait(1800)],
    ['is to go back', { node: ours, rollout: working, order: order(), report: report('Running') }, 'PutBack', back],
    ['is to go back, its order not heard of yet', { node: ours, rollout: working, order: order() }, 'PutBack', back],
    [
      'was asked back',
      { node: ours, rollout: working, order: order({ desired: 'PutBack' }), report: report('Running') },
      'PutBack',
      wait(1800),
    ],
    [
      'went back',
      { node: ours, rollout: working, order: order({ desired: 'PutBack' }), report: report('Withdrawn') },
      'PutBack',
      { action: 'uncordon' },
    ],
    [
      'its order refused',
      { node: ours, rollout: working, order: order(), report: report('Refused') },
      'Finish',
      { action: 'uncordon' },
    ],
    ['failed', { node: ours, rollout: failed, order: order(), report: report('Failed') }, 'PutBack', wait()],
    ['done, not uncordoned', { node: ours, rollout: rollout('Done') }, 'Finish', { action: 'uncordon' }],
    [
      'drains for another attempt: it is still the one that failed',
      {
        node: ours,
        rollout: { ...draining, attempt: 2 },
        order: order(),
        report: report('Failed', { reason: why }),
        now: 9,
      },
      'Finish',
      stillFailed,
    ],
    [
      'drains for another attempt after a gate had failed',
      {
        node: ours,
        rollout: { ...draining, attempt: 2, failure: why },
        order: order(),
        report: report('Succeeded'),
        now: 9,
      },
      'Finish',
      stillFailed,
    ],
  ]
  it.each(cases)('%s', (_name, given, cancel, action) => {
    expect(decide(given, cancel ? { cancel } : {})).toEqual(action)
  })

  it('and is healthy again is done', () => {
    const verifying = rollout('Verifying', { deadline: at(1800) })
    const given = {
      node: { ...ours, kubelet: 'v1.36.3' },
      rollout: verifying,
      order: order(),
      report: report('Succeeded'),
    }
    expect(decide(given, { cancel: 'PutBack' })).toEqual({ action: 'uncordon' })
  })
})

describe('a node that is to be tried again', () => {
  const retry = { token: '2' }
  const again = (part: object) =>
    setRollout({
      ...draining,
      ...{ since: at(9), deadline: at(609), reason: leaving(at(9)), attempt: 2, retried: '2' },
      ...part,
    })
  const cases: [string, Given, Partial<Operation>, object][] = [
    ['failed', { rollout: failed, report: report('Failed') }, { retry }, again({ failure: why })],
    [
      'failed with another token',
      { rollout: { ...failed, retried: '1' }, report: report('Failed') },
      { retry },
      again({ failure: why }),
    ],
    ['failed under this token', { rollout: { ...failed, retried: '2' } }, { retry }, wait()],
    [
      'is named',
      { rollout: failed, report: report('Failed') },
      { retry: { ...retry, nodes: ['w1'] } },
      again({ failure: why }),
    ],
    ['others are named', { rollout: failed }, { retry: { ...retry, nodes: ['w2'] } }, wait()],
    ['is left out', { rollout: failed }, { retry, skip: new Set(['w1']) }, wait()],
    [
      'is left out, but named',
      { rollout: failed, report: report('Failed') },
      { retry: { ...retry, nodes: ['w1'] }, skip: new Set(['w1']) },
      again({ failure: why }),
    ],
    ['is cancelled', { rollout: failed, report: report('Failed') }, { retry, cancel: 'Finish' }, wait()],
    [
      'needs a person, its order still runs: that ends first',
      { rollout: rollout('RequiresAttention'), report: report('Running') },
      { retry },
      { action: 'setOrder', order: order({ desired: 'Withdraw' }) },
    ],
    [
      'needs a person, its agent is stuck: it must not go on when it is repaired',
      { rollout: rollout('RequiresAttention'), report: report('RequiresAttention') },
      { retry },
      { action: 'setOrder', order: order({ desired: 'Withdraw' }) },
    ],
    [
      'needs a person, its agent is stuck and will find the order withdrawn',
      {
        rollout: rollout('RequiresAttention'),
        order: order({ desired: 'Withdraw' }),
        report: report('RequiresAttention'),
      },
      { retry },
      again({}),
    ],
    ['works', { rollout: working, report: report('Running') }, { retry }, wait(1800)],
  ]
  it.each(cases)('%s', (_name, given, part, action) => {
    expect(decide({ node: ours, order: order(), now: 9, ...given }, part)).toEqual(action)
  })

  it('remembers the token under which it failed', () => {
    const given = { node: ours, rollout: working, order: order(), report: report('Failed', { reason: why }), now: 9 }
    expect(decide(given, { retry })).toMatchObject({ rollout: { phase: 'Failed', retried: '2' } })
  })

  it('because it could not stage gets another order, and starts with it', () => {
    const { cordon: _cordon, ...unstaged } = failed
    const staged = order({ desired: 'Stage' })
    const given = { grant: null, staging: true, rollout: unstaged, order: staged, report: report('Failed') }
    const next = order({ id: `${id}/2`, desired: 'Stage' })
    expect(decide(given, { retry })).toEqual({ action: 'setOrder', order: next })
    expect(decide(given, {})).toEqual(wait())
    const granted = { rollout: unstaged, order: next, report: report('Staged', { id: `${id}/2` }) }
    expect(decide(granted, { retry })).toEqual({ action: 'cordon' })
    expect(decide({ ...granted, node: ours }, { retry })).toMatchObject({ rollout: { phase: 'Draining', attempt: 2 } })
  })
})
