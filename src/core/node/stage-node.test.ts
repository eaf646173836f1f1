import { describe, expect, it } from 'vitest'
import {
  at,
  type Given,
  id,
  operation,
  order,
  report,
  rollout,
  viewOf,
  wait,
} from '../../../test/samples/node-views.ts'
import { decideNode } from './decide-node.ts'
import { stagingState } from './stage-node.ts'

const stage = order({ desired: 'Stage' })
const staging = { grant: null, staging: true } as const
const other = order({ id: 'older/1/1', update: 'older' })
const reason = { code: 'StagingFailed', message: 'the repository is away' } as const

describe('a node without a slot that is to stage', () => {
  const cases: [string, Given, object][] = [
    ['is given its order, and is neither cordoned nor drained', {}, { action: 'setOrder', order: stage }],
    [
      'books the order of another operation that may run',
      { order: other, report: report('Running', { id: other.id }) },
      { action: 'regrant', holder: other.id.slice(0, other.id.lastIndexOf('/')) },
    ],
    [
      'waits for the order of another operation that a person looks at',
      { order: other, report: report('RequiresAttention', { id: other.id }) },
      wait(),
    ],
    [
      'takes the place of an order that ended',
      { order: other, report: report('Succeeded', { id: other.id }) },
      { action: 'setOrder', order: stage },
    ],
    [
      'takes the place of an order that only staged',
      { order: { ...other, desired: 'Stage' }, report: report('Staged', { id: other.id }) },
      { action: 'setOrder', order: stage },
    ],
    [
      'says so when it takes its time',
      { order: stage, report: report('Accepted', { reason }) },
      {
        action: 'setRollout',
        unhurried: true,
        rollout: {
          update: 'to-1-36',
          operationID: id,
          phase: 'Staging',
          since: at(1),
          attempt: 1,
          reason: { ...reason, since: at(1) },
        },
      },
    ],
    ['that has staged waits for its slot', { order: stage, report: report('Staged') }, wait()],
    [
      'that cannot stage has failed, and was never touched',
      { order: stage, report: report('Failed', { reason }) },
      {
        action: 'setRollout',
        rollout: {
          update: 'to-1-36',
          operationID: id,
          phase: 'Failed',
          since: at(1),
          attempt: 1,
          reason: { ...reason, since: at(1) },
        },
      },
    ],
    [
      'whose agent refuses needs a person',
      { order: stage, report: report('Refused', { reason }) },
      { action: 'setRollout', rollout: expect.objectContaining({ phase: 'RequiresAttention' }) },
    ],
    [
      'whose order was withdrawn gets another',
      { order: stage, report: report('Withdrawn') },
      { action: 'setOrder', order: order({ id: `${id}/2`, desired: 'Stage' }) },
    ],
    [
      'that failed stays as it is',
      { order: stage, rollout: { ...rollout('Failed'), cordon: undefined }, report: report('Failed') },
      wait(),
    ],
    [
      'remembers what it was done for',
      {
        order: stage,
        rollout: rollout('Done', { operationID: 'older/1' }),
        report: report('Failed', { reason }),
      },
      { action: 'setRollout', completed: ['older/1'], rollout: expect.objectContaining({ phase: 'Failed' }) },
    ],
  ]
  it.each(cases)('%s', (_name, given, expected) => {
    expect(decideNode(viewOf({ ...staging, ...given }))).toEqual(expected)
  })
})

describe('what was staged for nobody any more', () => {
  it('is dropped', () => {
    expect(decideNode(viewOf({ grant: null, order: stage, report: report('Staged') }))).toEqual({ action: 'dropOrder' })
  })

  it('leaves no mark of a failure', () => {
    const failed = { ...rollout('Failed'), cordon: undefined }
    expect(decideNode(viewOf({ grant: null, order: stage, rollout: failed }))).toEqual({ action: 'clear' })
  })
})

describe('with its slot', () => {
  const node = { cordoned: true, mark: id }
  it('a staged node is cordoned first', () => {
    expect(decideNode(viewOf({ order: stage, report: report('Staged') }))).toEqual({ action: 'cordon' })
  })

  it('goes on with the attempt it staged for', () => {
    const second = order({ id: `${id}/2`, desired: 'Stage' })
    expect(decideNode(viewOf({ node, order: second }))).toMatchObject({ rollout: { phase: 'Draining', attempt: 2 } })
  })

  it('may run only when its pods are gone', () => {
    const draining = rollout('Draining', { deadline: at(600) })
    const given = { node, rollout: draining, order: stage, report: report('Staged') }
    const pods = (left: number) => ({ total: 2, left, blocked: [] })
    expect(decideNode(viewOf({ ...given, drain: pods(1) }))).toEqual(wait(600))
    expect(decideNode(viewOf({ ...given, drain: pods(0) }))).toEqual({ action: 'setOrder', order: order() })
  })

  it('an operation that disturbs nothing sends nobody away', () => {
    const gentle = { ...operation, disruption: 'None' as const }
    const view = { ...viewOf({}), operation: gentle }
    expect(decideNode(view)).toMatchObject({ action: 'setRollout', rollout: { cordon: { prior: 'Schedulable' } } })
    const started = { ...viewOf({ rollout: rollout('Draining') }), operation: gentle }
    expect(decideNode(started)).toEqual({ action: 'setOrder', order: order() })
  })
})

it.each([
  ['no', undefined, undefined],
  ['no', order(), report('Accepted')],
  ['asked', stage, undefined],
  ['asked', stage, report('Accepted')],
  ['ready', stage, report('Staged')],
  ['asked', stage, report('Staged', { id: other.id })],
  ['no', { ...other, desired: 'Stage' as const }, report('Staged', { id: other.id })],
] as const)('staging is %s', (state, given, said) => {
  const view = viewOf({ ...(given && { order: given }), ...(said && { report: said }) })
  expect(stagingState(view.state, id)).toBe(state)
})
