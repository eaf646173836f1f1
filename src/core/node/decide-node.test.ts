import { describe, expect, it } from 'vitest'
import { type NodeTraits, sampleState } from '../../../test/samples/cluster-objects.ts'
import {
  at,
  draining,
  type Given,
  id,
  order,
  ours,
  report,
  rollout,
  setIfLasting,
  setRollout,
  upgraded,
  viewOf,
  wait,
} from '../../../test/samples/node-views.ts'
import type { AgentOrder } from '../../api/node-state.ts'
import type { Reason } from '../../api/reason.ts'
import { decideNode } from './decide-node.ts'
import { lastWord } from './order.ts'

describe('the happy path, decision by decision', () => {
  const working = rollout('Working', { since: at(6), deadline: at(6 + 1800) })
  const succeeded = report('Succeeded', { kubeletRestartedAt: at(60) })
  const restarted: NodeTraits = { ...upgraded, heartbeat: at(61) }
  const done = rollout('Done', { since: at(63), finishedAt: at(63) })
  it.each<[string, Given, object]>([
    ['a slot is there', {}, { action: 'cordon' }],
    ['cordoned', { node: ours }, setRollout(rollout('Draining', { since: at(1), deadline: at(601) }))],
    ['marked', { node: ours, rollout: draining }, { action: 'watchPods' }],
    ['pods are leaving', { node: ours, rollout: draining, drain: { total: 9, left: 3, blocked: [] } }, wait(600)],
    [
      'pods are gone',
      { node: ours, rollout: draining, drain: { total: 9, left: 0, blocked: [] } },
      { action: 'setOrder', order: order() },
    ],
    [
      'accepted',
      { node: ours, rollout: draining, order: order(), report: report('Accepted'), now: 6 },
      setRollout(working),
    ],
    ['running', { node: ours, rollout: working, order: order(), report: report('Running'), now: 8 }, wait(1806)],
    [
      'finished, not Ready yet',
      { node: { ...ours, ready: 'False' }, rollout: working, order: order(), report: succeeded, now: 62 },
      setIfLasting(
        rollout('Verifying', {
          since: at(62),
          deadline: at(62 + 1800),
          reason: { code: 'WaitingForHealth', message: 'w1 is not Ready: container runtime is down', since: at(62) },
        }),
      ),
    ],
    [
      'Ready, Lease unknown',
      { node: restarted, rollout: working, order: order(), report: succeeded, now: 62 },
      { action: 'watchLease' },
    ],
    [
      'healthy',
      { node: restarted, rollout: working, order: order(), report: succeeded, lease: at(61), now: 62 },
      { action: 'uncordon' },
    ],
    [
      'uncordoned',
      {
        node: { kubelet: 'v1.36.3', heartbeat: at(61) },
        rollout: working,
        order: order(),
        report: succeeded,
        lease: at(61),
        now: 63,
      },
      setRollout(done),
    ],
    [
      'done',
      { node: { kubelet: 'v1.36.3' }, rollout: done, order: order(), report: succeeded },
      { action: 'returnGrant' },
    ],
    [
      'the slot is back',
      { node: { kubelet: 'v1.36.3' }, rollout: done, order: order(), report: succeeded, grant: null },
      wait(),
    ],
  ])('%s', (_name, given, expected) => {
    expect(decideNode(viewOf(given))).toEqual(expected)
  })

  it('a control-plane node may go on while the API is away', () => {
    const { action, ...decided } = decideNode(
      viewOf({ node: { ...ours, controlPlane: true }, rollout: draining, drain: { total: 0, left: 0, blocked: [] } }),
    )
    expect(action).toBe('setOrder')
    expect(decided).toEqual({ order: order({ role: 'ControlPlane', offline: 'Allowed' }) })
  })
})

describe('a Lease that cannot be read', () => {
  const leaseUnknown = 'Lease kube-node-lease/w1 cannot be read: no'
  const reason: Reason = { code: 'WaitingForHealth', message: leaseUnknown, since: at(62) }
  const verifying = rollout('Verifying', { since: at(62), deadline: at(62 + 1800), reason })
  const notReady = {
    ...verifying,
    reason: { code: 'WaitingForHealth', message: 'w1 is not Ready', since: at(50) },
  } as const
  const looked = {
    ...{ node: { ...upgraded, heartbeat: at(61) }, order: order(), now: 62 },
    report: report('Succeeded', { kubeletRestartedAt: at(60) }),
  }
  const finished = { ...looked, leaseUnknown }
  const message = `the Lease of w1 was not renewed since its kubelet was restarted at ${at(60)}`
  const notRenewed = { ...verifying, reason: { ...reason, message } }
  it.each<[string, Given, object]>([
    ['is told', { ...finished, rollout: rollout('Working') }, setIfLasting(verifying)],
    [
      'is told after something else was, and has been waited for since then',
      { ...finished, rollout: notReady },
      setIfLasting({ ...verifying, reason: { ...reason, since: at(50) } }),
    ],
    [
      'is no news where only numbers are others',
      {
        ...looked,
        lease: at(59),
        rollout: { ...notRenewed, reason: { ...reason, message: message.replaceAll('1', '2') } },
      },
      wait(1862),
    ],
    ['is looked at again before the time is over', { ...finished, rollout: verifying }, wait(77)],
    [
      'is told no longer once it can be read',
      { ...looked, lease: at(59), rollout: verifying },
      setIfLasting(notRenewed),
    ],
    ['is not waited for beyond that', { ...finished, rollout: verifying, now: 1860 }, wait(1862)],
    [
      'calls for a person then',
      { ...finished, rollout: verifying, now: 1862 },
      setRollout(rollout('RequiresAttention', { since: at(1862), reason: { ...reason, since: at(1862) } })),
    ],
    [
      'is no news to who was called already',
      { ...finished, rollout: rollout('RequiresAttention', { reason: notReady.reason }) },
      wait(),
    ],
    [
      'keeps nobody from putting the node back',
      { ...finished, rollout: verifying, gone: true },
      { action: 'uncordon' },
    ],
  ])('%s', (_name, given, expected) => {
    expect(decideNode(viewOf(given))).toEqual(expected)
  })
})

describe('starting', () => {
  it.each<[string, Given, object]>([
    ['not Ready since it was granted: the slot goes back', { node: { ready: 'False' } }, { action: 'returnGrant' }],
    ['silent since it was granted', { node: { ready: 'Unknown' } }, { action: 'returnGrant' }],
    [
      'not Ready, but cordoned by us before a crash',
      { node: { ...ours, ready: 'False' } },
      setRollout(rollout('Draining', { since: at(1), deadline: at(601) })),
    ],
    ["under a person's cordon: others are told to leave it", { node: { cordoned: true } }, { action: 'cordon' }],
    [
      "a person's cordon is kept as such",
      { node: { cordoned: true, marked: true } },
      setRollout(rollout('Draining', { since: at(1), deadline: at(601), cordon: { prior: 'Unschedulable' } })),
    ],
    [
      'a cordon of an earlier operation is taken over',
      { node: { cordoned: true, mark: 'older/1' } },
      { action: 'cordon' },
    ],
    [
      'what an earlier operation did is no obstacle',
      { node: ours, rollout: rollout('Done', { operationID: 'older/1' }), order: order({ id: 'older/1/1' }) },
      { ...setRollout(rollout('Draining', { since: at(1), deadline: at(601) })), completed: ['older/1'] },
    ],
    [
      'an order of a lost slot is withdrawn first',
      { node: ours, rollout: rollout('Working', { operationID: 'older/1' }), order: order({ id: 'older/1/1' }) },
      { action: 'setOrder', order: order({ id: 'older/1/1', desired: 'Withdraw' }) },
    ],
    [
      'and its end awaited',
      {
        node: ours,
        rollout: rollout('Working', { operationID: 'older/1' }),
        order: order({ id: 'older/1/1', desired: 'Withdraw' }),
        report: report('Running', { id: 'older/1/1' }),
      },
      wait(),
    ],
    [
      'then it starts',
      {
        node: ours,
        rollout: rollout('Working', { operationID: 'older/1' }),
        order: order({ id: 'older/1/1', desired: 'Withdraw' }),
        report: report('Withdrawn', { id: 'older/1/1' }),
      },
      setRollout(rollout('Draining', { since: at(1), deadline: at(601) })),
    ],
  ])('%s', (_name, given, expected) => {
    expect(decideNode(viewOf(given))).toEqual(expected)
  })
})

describe('the order', () => {
  const assigned = rollout('Assigned', {
    since: at(3),
    deadline: at(1803),
    reason: { code: 'WaitingForAgent', message: 'the agent on w1 has not accepted the order yet', since: at(3) },
  })
  const working = rollout('Working', { since: at(6), deadline: at(1806) })
  const attention = (seconds: number, reason: Reason) =>
    rollout('RequiresAttention', { since: at(seconds), reason: { ...reason, since: at(seconds) } })
  const late: Reason = {
    code: 'OrderTimedOut',
    message: 'the agent has not finished within nodeTimeout (30m); look at its log on w1, nothing is assumed',
  }
  const needed = attention(1806, late)
  const why: Reason = { code: 'StepFailed', message: 'step kubeadm ended with 1: no space left', since: at(40) }
  const cases: [string, Omit<Given, 'node' | 'order'>, object][] = [
    ['no answer: told if it lasts', { rollout: draining, now: 3 }, setIfLasting(assigned)],
    [
      'an answer to an older order is none',
      { rollout: draining, report: report('Succeeded', { id: `${id}/0` }), now: 3 },
      setIfLasting(assigned),
    ],
    ['still no answer', { rollout: assigned, now: 100 }, wait(1803)],
    ['no answer until the deadline', { rollout: assigned, now: 1803 }, setRollout(attention(1803, late))],
    [
      'no answer until the deadline, in the grace of a new leader',
      { rollout: assigned, now: 1803, grace: 1900 },
      wait(1900),
    ],
    ['accepted late', { rollout: assigned, report: report('Running'), now: 6 }, setRollout(working)],
    ['takes too long', { rollout: working, report: report('Running'), now: 1806 }, setRollout(needed)],
    [
      'takes too long, in the grace of a new leader',
      { rollout: working, report: report('Running'), now: 1806, grace: 1900 },
      wait(1900),
    ],
    ['is late and goes on: nothing is assumed', { rollout: needed, report: report('Running'), now: 9999 }, wait()],
    ['is late without any answer', { rollout: needed, now: 9999 }, wait()],
    [
      'failed, with the reason of the agent',
      { rollout: working, report: report('Failed', { reason: why }), now: 41 },
      setRollout(rollout('Failed', { since: at(41), reason: why })),
    ],
    [
      'failed without a reason',
      { rollout: working, report: report('Failed'), now: 41 },
      setRollout(
        rollout('Failed', {
          since: at(41),
          reason: { code: 'StepFailed', message: 'the agent gave no reason', since: at(41) },
        }),
      ),
    ],
    ['failed is failed', { rollout: rollout('Failed'), report: report('Failed'), now: 99_999 }, wait()],
    [
      'refused',
      {
        rollout: draining,
        report: report('Refused', { reason: { code: 'FencedOff', message: 'another machine' } }),
        now: 5,
      },
      setRollout(attention(5, { code: 'FencedOff', message: 'another machine' })),
    ],
    [
      'refused without a reason',
      { rollout: draining, report: report('Refused'), now: 5 },
      setRollout(attention(5, { code: 'OrderRefused', message: 'the agent refused the order and gave no reason' })),
    ],
    ['refused and told', { rollout: attention(5, late), report: report('Refused'), now: 6 }, wait()],
    [
      'a damaged journal',
      {
        rollout: working,
        report: report('RequiresAttention', { reason: { code: 'JournalCorrupt', message: 'look at order.json' } }),
        now: 7,
      },
      setRollout(attention(7, { code: 'JournalCorrupt', message: 'look at order.json' })),
    ],
    [
      'withdrawn while it is wanted again: the next attempt drains anew',
      { rollout: working, report: report('Withdrawn'), now: 50 },
      setRollout(rollout('Draining', { since: at(50), deadline: at(650), attempt: 2 })),
    ],
  ]
  it.each(cases)('%s', (_name, given, expected) => {
    expect(decideNode(viewOf({ node: ours, order: order(), ...given }))).toEqual(expected)
  })

  it('of the next attempt has an id of its own', () => {
    const second = { ...draining, attempt: 2 }
    const given = { node: ours, order: order(), report: report('Withdrawn'), drain: { total: 0, left: 0, blocked: [] } }
    expect(decideNode(viewOf({ ...given, rollout: second }))).toEqual({
      action: 'setOrder',
      order: order({ id: `${id}/2` }),
    })
  })

  it.each<[AgentOrder['state'], boolean]>([
    ['Accepted', false],
    ['Running', false],
    ['RequiresAttention', false],
    ['Succeeded', true],
    ['Failed', true],
    ['Withdrawn', true],
    ['Refused', true],
  ])('%s is its last word: %s', (state, last) => {
    expect(lastWord(order(), sampleState('w1', { report: report(state) }))).toEqual(last ? report(state) : undefined)
    expect(lastWord(order(), sampleState('w1', { report: report(state, { id: 'other/1' }) }))).toBeUndefined()
  })
})

describe('verifying', () => {
  const reason: Reason = { code: 'WaitingForHealth', message: 'the kubelet on w1 reports v1.35.4, not v1.36.3' }
  const verifying = rollout('Verifying', { deadline: at(1800), reason: { ...reason, since: at(0) } })
  const finished = { order: order(), report: report('Succeeded') }
  const needed = rollout('RequiresAttention', { since: at(1800), reason: { ...reason, since: at(1800) } })
  const prior = { cordon: { prior: 'Unschedulable' } } as const
  it.each<[string, Given, object]>([
    ['sick and told', { node: ours, rollout: verifying, now: 9 }, wait(1800)],
    ['sick beyond the deadline', { node: ours, rollout: verifying, now: 1800 }, setRollout(needed)],
    ['sick beyond the deadline, in grace', { node: ours, rollout: verifying, now: 1800, grace: 1900 }, wait(1900)],
    ['sick, a person was asked', { node: ours, rollout: needed, now: 9999 }, wait()],
    [
      'healthy after all: it calls for nobody any more',
      { node: upgraded, rollout: needed, now: 9999 },
      setRollout(rollout('Verifying', { since: at(9999), deadline: at(9999 + 1800) })),
    ],
    ['healthy, and calls for nobody', { node: upgraded, rollout: verifying, now: 9999 }, { action: 'uncordon' }],
    [
      'sick while its gates were waited for: it has its time from now on',
      { node: ours, rollout: rollout('Verifying', { reason: { code: 'GateWaiting', message: 'shop' } }), now: 9 },
      setIfLasting(rollout('Verifying', { since: at(9), deadline: at(9 + 1800), reason: { ...reason, since: at(9) } })),
    ],
    ['put back by us, and sick again', { node: {}, rollout: verifying, now: 9 }, wait(1800)],
    [
      'put back by a person, and healthy',
      { node: { kubelet: 'v1.36.3' }, rollout: needed, now: 9999 },
      setRollout(rollout('Done', { since: at(9999), finishedAt: at(9999) })),
    ],
    [
      "healthy, a person's cordon: our marks go first",
      { node: { kubelet: 'v1.36.3', cordoned: true, marked: true }, rollout: rollout('Working', prior) },
      { action: 'uncordon' },
    ],
    [
      "healthy, a person's cordon stays",
      { node: { kubelet: 'v1.36.3', cordoned: true }, rollout: rollout('Working', prior) },
      setRollout(rollout('Done', { ...prior, since: at(1), finishedAt: at(1) })),
    ],
    [
      'healthy, and the next operation waits: done as it stands',
      { node: upgraded, rollout: rollout('Working'), successor: true },
      setRollout(rollout('Done', { since: at(1), finishedAt: at(1) })),
    ],
    [
      'healthy, a person uncordoned it meanwhile: our mark goes',
      { node: { mark: id, kubelet: 'v1.36.3' }, rollout: verifying },
      { action: 'uncordon' },
    ],
    [
      'the Lease is known and old, which is told: waits for it',
      {
        node: { ...upgraded, heartbeat: at(61) },
        rollout: rollout('Verifying', {
          deadline: at(1800),
          reason: {
            code: 'WaitingForHealth',
            message: `the Lease of w1 was not renewed since its kubelet was restarted at ${at(60)}`,
          },
        }),
        report: report('Succeeded', { kubeletRestartedAt: at(60) }),
        lease: at(50),
        now: 62,
      },
      wait(1800),
    ],
  ])('%s', (_name, given, expected) => {
    expect(decideNode(viewOf({ ...finished, ...given }))).toEqual(expected)
  })
})

describe('a node that is tried again after a person uncordoned it, and is not Ready', () => {
  // Its cordon went, and our mark of it is still there.
  const dead: NodeTraits = { mark: id, ready: 'Unknown' }
  const again = rollout('Pending')

  it('is given back', () => {
    expect(decideNode(viewOf({ node: dead, rollout: again }))).toEqual({ action: 'returnGrant' })
  })

  it('asks for no other slot, and waits as it was', () => {
    expect(decideNode(viewOf({ node: dead, rollout: again, grant: null }))).toEqual({ action: 'uncordon' })
    const plain: NodeTraits = { ready: 'Unknown' }
    expect(decideNode(viewOf({ node: plain, rollout: again, grant: null }))).toMatchObject({ action: 'clear' })
  })
})
