import { describe, expect, it } from 'vitest'
import {
  at,
  type Given,
  id,
  operation,
  order,
  report,
  rollout,
  setIfLasting,
  setRollout,
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
      'ends the order of another operation that a person looks at',
      { order: other, report: report('RequiresAttention', { id: other.id }) },
      { action: 'setOrder', order: { ...other, desired: 'Withdraw' } },
    ],
    [
      'waits for the word on it',
      { order: { ...other, desired: 'Withdraw' }, report: report('RequiresAttention', { id: other.id }) },
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
          deadline: at(2101),
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

describe('a node whose agent does not take what it is to stage', () => {
  const waiting = rollout('Staging', {
    ...{ since: at(1), deadline: at(1801), cordon: undefined, takenAt: undefined },
    reason: { code: 'WaitingForAgent', message: 'the agent on w1 has not accepted the order yet', since: at(1) },
  })
  const late = rollout('RequiresAttention', {
    ...{ since: at(1801), cordon: undefined, takenAt: undefined },
    reason: {
      code: 'OrderTimedOut',
      message:
        'the agent on w1 has not accepted the order within nodeTimeout (30m); look at its log, nothing was begun on the node',
      since: at(1801),
    },
  })
  const quiet = rollout('Staging', { since: at(1), cordon: undefined, takenAt: undefined })
  const staged = { order: stage, report: report('Staged') }
  const away = { node: { ready: 'False' } } as const
  const cases: [string, Given, object][] = [
    ['says so', { order: stage }, setIfLasting(waiting)],
    ['waits for as long as its work may take', { order: stage, rollout: waiting, now: 1800 }, wait(1801)],
    ['then calls for a person', { order: stage, rollout: waiting, now: 1801 }, setRollout(late)],
    ['but not right after a change of leader', { order: stage, rollout: waiting, now: 1801, grace: 1860 }, wait(1860)],
    ['and stays so', { order: stage, rollout: late, now: 3000 }, wait()],
    ['says nothing of its agent while it is not Ready', { ...away, order: stage }, setIfLasting(quiet)],
    ['nor is it late then', { ...away, order: stage, rollout: waiting, now: 1900 }, setIfLasting(quiet)],
    [
      'goes on when the agent takes it after all',
      { order: stage, rollout: late, report: report('Accepted'), now: 1900 },
      setIfLasting({ ...quiet, since: at(1900), deadline: at(4000) }),
    ],
    [
      'goes on when it has staged after all',
      { ...staged, rollout: late, now: 1900 },
      setIfLasting({ ...quiet, since: at(1900) }),
    ],
    ['says no longer what it waited for', { ...staged, rollout: waiting }, setIfLasting(quiet)],
    ['that has staged and says so waits for its slot', { ...staged, rollout: quiet }, wait()],
  ]
  it.each(cases)('%s', (_name, given, expected) => {
    expect(decideNode(viewOf({ ...staging, ...given }))).toEqual(expected)
  })

  it('is tried again under another name', () => {
    const again = { ...operation, retry: { token: 'again' } }
    const view = { ...viewOf({ ...staging, order: stage, rollout: late, now: 1900 }), staging: again }
    expect(decideNode(view)).toMatchObject({ action: 'setOrder', order: { id: `${id}/2`, desired: 'Stage' } })
  })
})

describe('a node whose agent took what it is to stage, and says nothing more of it', () => {
  const mark = { cordon: undefined, takenAt: undefined }
  const since1 = { reason: { ...reason, since: at(1) } }
  // As long as the order may take, and five minutes to say how it ended.
  const quiet = rollout('Staging', { ...mark, since: at(1), deadline: at(2101) })
  const trying = rollout('Staging', { ...mark, since: at(1), deadline: at(2101), ...since1 })
  const late = rollout('RequiresAttention', {
    ...{ ...mark, since: at(2101) },
    reason: {
      code: 'OrderTimedOut',
      message:
        'the agent on w1 accepted the order and has not staged it within its time (30m); look at its log, nothing was begun on the node',
      since: at(2101),
    },
  })
  const accepted = report('Accepted')
  const retrying = report('Accepted', { reason })
  const away = { node: { ready: 'False' } } as const
  const cases: [string, Given, object][] = [
    ['has the time of its order', { report: accepted }, setIfLasting(quiet)],
    ['waits for the rest of it', { report: accepted, rollout: quiet, now: 2100 }, wait(2101)],
    ['then calls for a person', { report: accepted, rollout: quiet, now: 2101 }, setRollout(late)],
    ['also where it told of trouble', { report: retrying, rollout: trying, now: 2101 }, setRollout(late)],
    [
      'has it anew with each news',
      { report: retrying, rollout: quiet, now: 601 },
      setIfLasting({ ...trying, deadline: at(2701), reason: { ...reason, since: at(601) } }),
    ],
    [
      'but not right after a change of leader',
      { report: accepted, rollout: quiet, now: 2101, grace: 2160 },
      wait(2160),
    ],
    ['and stays so', { report: accepted, rollout: late, now: 3000 }, wait()],
    [
      'goes on when it has staged after all',
      { report: report('Staged'), rollout: late, now: 2200 },
      setIfLasting(rollout('Staging', { ...mark, since: at(2200) })),
    ],
    [
      'has no deadline any more when it has staged',
      { report: report('Staged'), rollout: quiet },
      setIfLasting(rollout('Staging', { ...mark, since: at(1) })),
    ],
    [
      'failed, which it says late',
      { report: report('Failed', { reason }), rollout: late, now: 2200 },
      setRollout(rollout('Failed', { ...mark, since: at(2200), reason: { ...reason, since: at(2200) } })),
    ],
    [
      'is not late while the node is not Ready',
      { ...away, report: accepted, rollout: quiet, now: 2200 },
      setIfLasting(rollout('Staging', { ...mark, since: at(1) })),
    ],
    [
      'has its time anew when the node is back',
      { report: accepted, rollout: rollout('Staging', { ...mark, since: at(1) }), now: 2300 },
      setIfLasting({ ...quiet, deadline: at(4400) }),
    ],
  ]
  it.each(cases)('%s', (_name, given, expected) => {
    expect(decideNode(viewOf({ ...staging, order: stage, ...given }))).toEqual(expected)
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

it('staging is unheard where the agent has not taken the order in good time', () => {
  const reason = { code: 'WaitingForAgent', message: 'not yet' } as const
  const { state } = viewOf({ order: stage, rollout: rollout('Staging', { reason }) })
  expect(stagingState(state, id)).toBe('unheard')
  const taken = viewOf({ order: stage, rollout: rollout('Staging', { reason }), report: report('Accepted') })
  expect(stagingState(taken.state, id)).toBe('asked')
})

describe('maintenance whose windows changed since it was fetched', () => {
  const jobs = [{ name: 'rotate', sha256: 'a'.repeat(64), url: 'http://jobs.example/rotate' }]
  const kind = 'Maintenance' as const
  const work = { jobs, reboot: 'Never' as const }
  const old = order({ kind, desired: 'Stage', work: { jobs, reboot: 'IfRequired' } })
  const maintenance = { ...operation, kind, work }
  const asked = (given: Given) => ({
    ...viewOf(given),
    work,
    operation: given.grant === null ? undefined : maintenance,
  })
  const told = rollout('Staging', { kind, cordon: undefined, takenAt: undefined })

  it.each(['Accepted', 'Staged'] as const)('is fetched anew, as another order, when its agent said %s', (state) => {
    const view = { ...asked({ ...staging, order: old, report: report(state), rollout: told }), staging: maintenance }
    expect(decideNode(view)).toMatchObject({ action: 'setOrder', order: { id: `${id}/2`, desired: 'Stage', work } })
    const again = { ...old, id: `${id}/2`, work }
    const given = { ...staging, order: again, report: report('Staged', { id: again.id }), rollout: told }
    expect(decideNode({ ...asked(given), staging: maintenance })).toEqual(wait())
  })

  it('stays where the agent has given its last word', () => {
    const given = { ...staging, order: old, report: report('Failed', { reason }), rollout: told }
    expect(decideNode({ ...asked(given), staging: maintenance })).toMatchObject({
      action: 'setRollout',
      rollout: { phase: 'Failed', attempt: 1 },
    })
  })

  it('runs as another order when its node is drained already: an agent knows this one with other work', () => {
    const node = { cordoned: true, mark: id }
    const drain = { total: 2, left: 0, blocked: [] }
    const draining = rollout('Draining', { kind, deadline: at(600) })
    const given = { node, drain, order: old, report: report('Staged') }
    expect(decideNode(asked({ ...given, rollout: draining }))).toMatchObject({
      action: 'setRollout',
      rollout: { phase: 'Draining', attempt: 2, deadline: at(600) },
    })
    expect(decideNode(asked({ ...given, rollout: { ...draining, attempt: 2 } }))).toMatchObject({
      action: 'setOrder',
      order: { id: `${id}/2`, desired: 'Run', work },
    })
  })
})
