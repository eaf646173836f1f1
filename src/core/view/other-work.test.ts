// Nodes that no update is at work on: a profile by itself, or their own maintenance.

import { describe, expect, it } from 'vitest'
import { node, nodeState, noon } from '../../../test/cli/cli-fixture.ts'
import type { MaintenancePolicy } from '../../api/maintenance-policy.ts'
import type { Rollout } from '../../api/node-state.ts'
import { budgetViews } from './budget-view.ts'
import { causesOf } from './causes.ts'
import { nodeTile } from './node-tile.ts'

const reason = { code: 'StepFailed', message: 'step sysctls failed with exit code 1' } as const
const ofProfile: Partial<Rollout> = { kind: 'NodeProfile', update: 'base', operationID: 'profile:base/1a2b-1' }
const ofMaintenance: Partial<Rollout> = { kind: 'Maintenance', update: 'default', operationID: 'maintenance:w1/1' }
const waiting = { update: 'to-1-36', standing: 'waiting', wave: 2 } as const

describe('a tile', () => {
  it.each([
    ['a profile failed there', { ...ofProfile, phase: 'Failed', reason }, undefined, { profile: 'base', reason }],
    [
      'a profile failed there, and an update waits for it',
      { ...ofProfile, phase: 'Failed', reason },
      waiting,
      { profile: 'base', reason },
    ],
    [
      'a profile is done, and an update of the same name waits',
      { ...ofProfile, update: 'to-1-36', phase: 'Done' },
      waiting,
      { update: 'to-1-36', wave: 2 },
    ],
    ['it is rebooted for itself', { ...ofMaintenance, phase: 'Draining' }, waiting, {}],
  ] as const)('%s', (_, rollout, place, expected) => {
    const { update, profile, wave, phase, reason: told } = nodeTile(node('w1'), nodeState('w1', rollout), place)
    expect({ update, profile, wave, reason: told }).toEqual(expected)
    expect(phase).toBe(rollout.phase === 'Done' ? 'Pending' : rollout.phase)
  })
})

it.each([
  [ofProfile, 'NodeProfile base', 'a person has put it right: slipway retry --profile base w1'],
  [ofMaintenance, 'its own maintenance', 'a person has put it right: slipway release w1'],
  [{}, 'to-1-36', 'a person has put it right: slipway retry to-1-36 w1'],
] as const)('a slot is held in words, and comes back by a command that helps: %#', (of, holder, returnsWhen) => {
  const state = nodeState('w1', { ...of, phase: 'Failed', reason })
  const grant = { node: 'w1', nodeUID: 'uid-w1', holder: state.status?.rollout?.operationID ?? '', since: noon }
  const policy: MaintenancePolicy = {
    metadata: { name: 'default', uid: 'u', resourceVersion: '1', creationTimestamp: noon },
    spec: { budgets: [{ maxUnavailable: 1 }] },
    status: { ledger: { epoch: 1, grants: [grant] } },
  }
  const tile = nodeTile(node('w1'), state, undefined)
  const [whole] = budgetViews({ nodes: [node('w1')], policy, tileOf: () => tile })
  expect(whole?.used).toMatchObject([{ holder, returnsWhen }])
})

it('a profile that failed is a cause of its own, and of no update', () => {
  const states = ['w1', 'w2'].map((name) => nodeState(name, { ...ofProfile, phase: 'Failed', reason }))
  const causes = causesOf({
    updates: [],
    policy: undefined,
    waiting: states.map((state) => nodeTile(node(state.metadata.name), state, undefined)),
    stateOf: (name) => states.find(({ metadata }) => metadata.name === name),
  })
  expect(causes).toMatchObject([{ code: 'StepFailed', nodes: ['w1', 'w2'], updates: [], profiles: ['base'] }])
  expect(causes[0]?.because.map(({ what }) => what)).toEqual(['NodeProfile base', 'node w1', 'Step failed'])
})
