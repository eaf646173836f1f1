import { describe, expect, it } from 'vitest'
import { metadata, sampleNode } from '../../../test/samples/cluster-objects.ts'
import type { DirectUpdate, DirectUpdateStatus } from '../../api/direct-update.ts'
import type { NodePhase, NodeState } from '../../api/node-state.ts'
import { cupcakeOperationID, cupcakePhaseOf, directStatusOf } from './cupcake-direct-status.ts'

const now = new Date('2026-01-01T12:00:00Z')
const since = '2026-01-01T11:00:00Z'
const said = (type: string, status: 'True' | 'False', message: string) => ({
  ...{ type, status, reason: 'InProgress', message, lastTransitionTime: since },
})
const ours = (status: DirectUpdateStatus, spec = {}): DirectUpdate => ({
  metadata: metadata('up'),
  spec: { kubernetes: { version: 'v1.36.3' }, ...spec },
  status: { operationID: 'up/1', startedAt: since, ...status },
})
const state = (name: string, phase: NodePhase, more: object = {}) => {
  const rollout = { update: 'up', operationID: 'up/1', phase, since, attempt: 1, ...more }
  return { metadata: metadata(name), spec: {}, status: { rollout } } satisfies NodeState
}
const view = (update: DirectUpdate, part: Partial<Parameters<typeof directStatusOf>[0]> = {}) => ({
  ...{ ours: update, before: undefined, nodes: [], notes: [], now },
  ...part,
})

describe('the phase', () => {
  const refused = [said('Planned', 'False', 'w1 has no agent')]
  it.each<[string, DirectUpdate, string]>([
    ['of one just made', ours({}), 'Pending'],
    ['while it is planned', ours({ phase: 'Planning' }), 'Pending'],
    ['when preflight says no', ours({ phase: 'Pending', conditions: refused }), 'RequiresAttention'],
    ['while it is paused', ours({ phase: 'Paused' }), 'InProgress'],
    ['after a dry run', ours({ phase: 'Planned' }, { dryRun: true }), 'Succeeded'],
    ['when it needs a person', ours({ phase: 'RequiresAttention' }), 'RequiresAttention'],
    ['when it failed', ours({ phase: 'Failed' }), 'Failed'],
    ['when it was cancelled', ours({ phase: 'Cancelled' }), 'Cancelled'],
  ])('%s', (_when, update, phase) => {
    expect(cupcakePhaseOf(update)).toBe(phase)
  })
})

describe('a node', () => {
  const drain = { total: 3, left: 2, pods: [] }
  const reason = { code: 'StepFailed' as const, message: 'apt said no' }
  it.each<[string, NodeState | undefined, object]>([
    ['that nobody looked at', undefined, { phase: 'Pending' }],
    ['of another operation', state('w1', 'Done', { operationID: 'other' }), { phase: 'Pending' }],
    ['that stages', state('w1', 'Staging'), { phase: 'Pending', lastUpdated: since }],
    ['that drains', state('w1', 'Draining'), { phase: 'Draining', startedAt: since }],
    ['under work', state('w1', 'Working'), { phase: 'Upgrading' }],
    ['that is looked at', state('w1', 'Verifying'), { phase: 'Verifying' }],
    ['that is done', state('w1', 'Done', { finishedAt: since }), { phase: 'Completed', completedAt: since }],
    ['that failed', state('w1', 'Failed', { reason }), { phase: 'Failed', error: 'apt said no' }],
    ['whose drain hangs', state('w1', 'RequiresAttention', { drain, reason }), { phase: 'Draining', error: /no/ }],
    ['whose work hangs', state('w1', 'RequiresAttention', { reason }), { phase: 'Upgrading', error: 'apt said no' }],
  ])('%s', (_what, known, told) => {
    const nodes = [{ node: sampleNode('w1'), state: known }]
    expect(directStatusOf(view(ours({ phase: 'InProgress' }), { nodes })).nodes?.w1).toMatchObject(told)
  })

  it('still ours to uncordon says so', () => {
    const nodes = [{ node: sampleNode('w1', { cordoned: true, mark: 'up/1' }), state: state('w1', 'Done') }]
    expect(directStatusOf(view(ours({ phase: 'InProgress' }), { nodes })).nodes?.w1?.phase).toBe('Uncordoning')
  })

  it('that failed is among the thousand that are told of', () => {
    const names = Array.from({ length: 1500 }, (_, index) => `w${index}`)
    const nodes = names.map((name, index) => ({
      node: sampleNode(name),
      state: state(name, index === 1499 ? 'Failed' : 'Done'),
    }))
    const told = directStatusOf(view(ours({ phase: 'InProgress' }), { nodes })).nodes ?? {}
    expect(Object.keys(told)).toHaveLength(1000)
    expect(told.w1499?.phase).toBe('Failed')
  })
})

describe('the status', () => {
  const running = ours({
    phase: 'InProgress',
    conditions: [said('Progressing', 'True', '1/3 nodes done'), said('Blocked', 'False', '')],
    preflight: [
      { check: 'Agents', result: 'Passed', message: '' },
      { check: 'Capacity', result: 'Warning', message: 'tight' },
    ],
    path: { current: 'v1.34.4', target: 'v1.36.3', steps: ['v1.35.4', 'v1.36.3'], step: 1 },
  })

  it('tells of checks and steps in its own words', () => {
    expect(directStatusOf(view(running, { notes: ['a note'] }))).toMatchObject({
      operationID: cupcakeOperationID('up/1'),
      message: 'Step 2/2: Upgrading to 1.36.3; 1/3 nodes done; a note',
      preflightResults: {
        passed: true,
        checks: [
          { name: 'Agents', passed: true },
          { passed: true, message: 'tight' },
        ],
      },
      upgradePath: { currentVersion: '1.34.4', targetVersion: '1.36.3', currentStep: 1, totalSteps: 2 },
      lastUpdated: now.toISOString(),
    })
  })

  it('is not written anew when nothing changed', () => {
    const before = directStatusOf(view(running))
    const later = new Date('2026-01-01T13:00:00Z')
    expect(directStatusOf(view(running, { before, now: later }))).toEqual(before)
  })

  it('names what blocks it', () => {
    const conditions = [said('Progressing', 'True', 'x'), said('Blocked', 'True', 'the budget is spent')]
    expect(directStatusOf(view(ours({ phase: 'InProgress', conditions }))).message).toBe('the budget is spent')
  })
})
