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
  rollout,
  setIfLasting,
  setRollout,
  viewOf,
  wait,
} from '../../../test/samples/node-views.ts'
import type { Rollout } from '../../api/node-state.ts'
import type { ReasonCode } from '../../api/reason.ts'
import { decideNode } from './decide-node.ts'
import type { DrainReport } from './node-view.ts'

type Entry = DrainReport['blocked'][number]

const waitsFor = (pod: string): Entry => ({
  pod,
  state: 'Blocked',
  reason: { code: 'PodDisruptionBudget', message: `${pod} waits for its budget` },
})
const toldAt = (seconds: number, { reason, ...entry }: Entry): Entry => ({
  ...entry,
  reason: { ...reason, since: at(seconds) },
})
const left = (blocked: readonly Entry[] = [], part: Partial<DrainReport> = {}): DrainReport => ({
  total: 9,
  left: 3,
  blocked,
  ...part,
})
const blocked = left([waitsFor('shop/a')])
const message = 'shop/a waits for its budget'
const drain = { total: 9, left: 3, pods: [toldAt(2, waitsFor('shop/a'))] }
const told = { ...draining, drain, reason: { code: 'PodDisruptionBudget', message, since: at(2) } } satisfies Rollout
const late = { ...told, reason: { code: 'DrainTimedOut', message, since: at(600) } } satisfies Rollout

describe('draining', () => {
  const terminating: Entry = {
    pod: 'shop/b',
    state: 'Terminating',
    reason: { code: 'PodTerminating', message: 'shop/b is shutting down' },
  }
  it.each<[string, Given, object]>([
    ['somebody uncordons: cordoned again', { node: {}, rollout: draining, drain: blocked }, { action: 'cordon' }],
    ['somebody took the cordon and left the mark', { node: { mark: id }, rollout: draining }, { action: 'cordon' }],
    ['what blocks is told if it lasts', { node: ours, rollout: draining, drain: blocked, now: 2 }, setIfLasting(told)],
    ['and once', { node: ours, rollout: told, drain: blocked, now: 5 }, wait(600)],
    [
      'another pod blocks',
      { node: ours, rollout: told, drain: left([waitsFor('shop/b')]), now: 5 },
      setIfLasting({
        ...told,
        drain: { ...drain, pods: [toldAt(5, waitsFor('shop/b'))] },
        reason: { code: 'PodDisruptionBudget', message: 'shop/b waits for its budget', since: at(5) },
      }),
    ],
    [
      'the same pods block, one for another reason: each keeps its own instant',
      {
        node: ours,
        rollout: {
          ...told,
          drain: { ...drain, pods: [waitsFor('shop/a'), waitsFor('shop/b')].map((e) => toldAt(2, e)) },
        },
        drain: left([waitsFor('shop/a'), terminating]),
        now: 5,
      },
      setIfLasting({
        ...told,
        drain: { ...drain, pods: [toldAt(2, waitsFor('shop/a')), toldAt(5, terminating)] },
        reason: { ...told.reason, message: `${message}; and 1 more` },
      }),
    ],
    [
      'the same pod, with more to say of it',
      {
        node: ours,
        rollout: told,
        drain: left([
          { ...waitsFor('shop/a'), reason: { code: 'PodDisruptionBudget', message: 'pod shop/c is Pending' } },
        ]),
        now: 5,
      },
      setIfLasting({
        ...told,
        drain: {
          ...drain,
          pods: [
            toldAt(2, {
              ...waitsFor('shop/a'),
              reason: { code: 'PodDisruptionBudget', message: 'pod shop/c is Pending' },
            }),
          ],
        },
        reason: { ...told.reason, message: 'pod shop/c is Pending' },
      }),
    ],
    [
      'nothing blocks any more: it says who is still going',
      {
        node: ours,
        rollout: told,
        drain: { ...left([], { left: 2 }), going: ['evicting shop/a', 'evicting shop/b'] },
        now: 5,
      },
      setIfLasting({
        ...told,
        drain: { total: 9, left: 2, pods: [] },
        reason: { code: 'PodEvicting', message: 'evicting shop/a; and 1 more', since: at(5) },
      }),
    ],
    [
      'its pods cannot be listed: that is its reason',
      { node: ours, rollout: draining, podsUnknown: 'VolumeAttachments cannot be listed: no', now: 5 },
      setIfLasting({
        ...draining,
        reason: { code: 'PodsUnknown', message: 'VolumeAttachments cannot be listed: no', since: at(5) },
      }),
    ],
    [
      'and when its time is over it says that',
      { node: ours, rollout: draining, podsUnknown: 'VolumeAttachments cannot be listed: no', now: 600 },
      setIfLasting({
        ...draining,
        reason: { code: 'DrainTimedOut', message: 'VolumeAttachments cannot be listed: no', since: at(600) },
      }),
    ],
    [
      'nothing blocks any more, and nobody said who is going',
      { node: ours, rollout: told, drain: left([], { left: 2 }), now: 5 },
      setIfLasting({ ...told, drain: { total: 9, left: 2, pods: [] }, reason: leaving(at(5)) }),
    ],
    ['late: it says so and goes on', { node: ours, rollout: told, drain: blocked, now: 600 }, setIfLasting(late)],
    ['late and told: waits for the pods', { node: ours, rollout: late, drain: blocked, now: 700 }, wait()],
    [
      'late without a blocker: pods only take their time',
      { node: ours, rollout: draining, drain: left([], { left: 1 }), now: 600 },
      setIfLasting({
        ...draining,
        drain: { total: 9, left: 1, pods: [] },
        reason: { code: 'DrainTimedOut', message: '1 of 9 pods left', since: at(600) },
      }),
    ],
    [
      'late, but a new leader gives grace',
      { node: ours, rollout: told, drain: blocked, now: 700, grace: 720 },
      wait(720),
    ],
    [
      'late, and empty after all',
      { node: ours, rollout: late, drain: left([], { left: 0 }), now: 700 },
      { action: 'setOrder', order: order() },
    ],
  ])('%s', (_name, given, expected) => {
    expect(decideNode(viewOf(given))).toEqual(expected)
  })

  it('names twenty pods at most, in messages that fit', () => {
    const many = Array.from({ length: 30 }, (_, index) => waitsFor(`shop/${'x'.repeat(5000)}${index}`))
    const cut = ({ pod, reason, ...rest }: Entry): Entry => {
      return { ...rest, pod, reason: { ...reason, message: reason.message.slice(0, 4000) } }
    }
    const decision = decideNode(
      viewOf({ node: ours, rollout: draining, drain: { total: 30, left: 30, blocked: many }, now: 5 }),
    )
    expect(decision.action).toBe('setRollout')
    if (decision.action !== 'setRollout') return
    expect(decision.rollout.drain?.pods).toEqual(many.slice(0, 20).map((entry) => toldAt(5, cut(entry))))
    expect(decision.rollout.reason?.message).toHaveLength(4000)
  })
})

describe('force', () => {
  const forced = (pod: string, code: ReasonCode = 'PodForced'): Entry => ({
    pod,
    state: 'Forced',
    reason: { code, message: `${pod} is deleted` },
  })
  const recorded: Rollout = {
    ...told,
    drain: { ...drain, pods: [toldAt(601, forced('shop/z')), toldAt(2, waitsFor('shop/a'))] },
    reason: { code: 'PodForced', message: 'shop/z is deleted; and 1 more', since: at(601) },
  }

  it('is written at once, before all others, and is the reason of the node', () => {
    const given = { node: ours, rollout: told, drain: left([waitsFor('shop/a'), forced('shop/z')]), now: 601 }
    expect(decideNode(viewOf(given))).toEqual(setRollout(recorded))
  })

  it('is written once', () => {
    const given = { node: ours, rollout: recorded, drain: left([waitsFor('shop/a'), forced('shop/z')]), now: 605 }
    expect(decideNode(viewOf(given))).toEqual(wait())
  })

  it('with no grace is another thing to be told', () => {
    const given = { node: ours, rollout: recorded, drain: left([forced('shop/z', 'PodRemoved')]), now: 700 }
    const decision = decideNode(viewOf(given))
    expect(decision).toMatchObject({
      action: 'setRollout',
      rollout: { reason: { code: 'PodRemoved', since: at(700) } },
    })
    expect(decision).not.toHaveProperty('unhurried')
  })
})

describe('volumes of pods that have left', () => {
  const volumes = [{ volume: 'pv-1', attachment: 'csi-1' }]
  const attached = left([], { left: 0, volumes })
  const text = 'volume pv-1 is still attached to w1 (VolumeAttachment csi-1)'
  const waiting: Rollout = {
    ...draining,
    drain: { total: 9, left: 0, pods: [] },
    reason: { code: 'VolumesAttached', message: text, since: at(10), nextCheck: at(610) },
  }
  const stuck: Rollout = { ...waiting, reason: { code: 'VolumesStuck', message: text, since: at(10) } }
  const later = { ...draining, deadline: at(3600) }

  it.each<[string, Given, object]>([
    [
      'no order is given before they are detached',
      { rollout: draining, drain: attached, now: 10 },
      setIfLasting(waiting),
    ],
    ['the deadline of the drain comes first', { rollout: waiting, drain: attached, now: 20 }, wait(600)],
    [
      'or the time volumes may take',
      { rollout: { ...waiting, deadline: at(3600) }, drain: attached, now: 20 },
      wait(610),
    ],
    [
      'after that a person is told',
      { rollout: { ...waiting, deadline: at(3600) }, drain: attached, now: 610 },
      setIfLasting({ ...stuck, deadline: at(3600) }),
    ],
    ['and it goes on waiting', { rollout: { ...stuck, deadline: at(3600) }, drain: attached, now: 900 }, wait(3600)],
    [
      'the time does not begin anew with a new leader, but nobody is late in its first minute',
      { rollout: { ...waiting, deadline: at(3600) }, drain: attached, now: 650, grace: 700 },
      wait(700),
    ],
    [
      'another volume is told',
      {
        rollout: { ...later, ...waiting },
        drain: left([], { left: 0, volumes: [...volumes, { volume: 'pv-2', attachment: 'csi-2' }] }),
        now: 30,
      },
      setIfLasting({ ...waiting, reason: { ...waiting.reason, message: `${text}; and 1 more` } as Rollout['reason'] }),
    ],
    [
      'detached: the work begins',
      { rollout: stuck, drain: left([], { left: 0 }), now: 900 },
      { action: 'setOrder', order: order() },
    ],
  ])('%s', (_name, given, expected) => {
    expect(decideNode(viewOf({ node: ours, ...given }))).toEqual(expected)
  })
})

describe('abort', () => {
  const view = (given: Given) => {
    const aborting = { ...operation, drain: { ...operation.drain, onTimeout: 'Abort' as const } }
    return { ...viewOf(given), ...(given.grant === null ? {} : { operation: aborting }) }
  }
  const aborted = rollout('Failed', {
    since: at(600),
    reason: { code: 'DrainAborted', message: `given up and put back; it was held up: ${message}`, since: at(600) },
  })

  it.each<[string, Given, object]>([
    ['not before its time', { node: ours, rollout: told, drain: blocked, now: 599 }, wait(600)],
    ['late: the node has failed', { node: ours, rollout: told, drain: blocked, now: 600 }, setRollout(aborted)],
    [
      'not in the first minute of a leader',
      { node: ours, rollout: told, drain: blocked, now: 600, grace: 650 },
      wait(650),
    ],
    [
      'also for volumes that stay attached',
      {
        node: ours,
        rollout: draining,
        drain: left([], { left: 0, volumes: [{ volume: 'pv-1', attachment: 'csi-1' }] }),
        now: 600,
      },
      setRollout({
        ...aborted,
        reason: {
          code: 'DrainAborted',
          message:
            'given up and put back; it was held up: volume pv-1 is still attached to w1 (VolumeAttachment csi-1)',
          since: at(600),
        },
      }),
    ],
    ['then it is uncordoned', { node: ours, rollout: aborted, now: 601 }, { action: 'uncordon' }],
    ['and its slot goes back', { node: {}, rollout: aborted, now: 602 }, { action: 'returnGrant' }],
    [
      "a person's cordon stays",
      { node: { cordoned: true }, rollout: { ...aborted, cordon: { prior: 'Unschedulable' } }, now: 602 },
      { action: 'returnGrant' },
    ],
    [
      'without a slot it is left alone while its operation is there',
      { node: {}, rollout: aborted, grant: null, staging: true },
      wait(),
    ],
    ['the mark goes with the operation', { node: {}, rollout: aborted, grant: null }, { action: 'clear' }],
    [
      'the slot was lost before the cordon went: booked again, so that nobody else takes one too many',
      { node: ours, rollout: aborted, grant: null, staging: true },
      { action: 'regrant', holder: id },
    ],
  ])('%s', (_name, given, expected) => {
    expect(decideNode(view(given))).toEqual(expected)
  })
})
