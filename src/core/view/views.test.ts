// What the pages are told, from objects as the API has them.

import { describe, expect, it } from 'vitest'
import { sampleState } from '../../../test/samples/cluster-objects.ts'
import { order } from '../../../test/samples/node-views.ts'
import type { DirectUpdate } from '../../api/direct-update.ts'
import type { Node } from '../../api/kube.ts'
import type { MaintenancePolicy } from '../../api/maintenance-policy.ts'
import type { NodeState, Rollout } from '../../api/node-state.ts'
import { operationID } from '../update/operation.ts'
import { backupsOf, storeViews } from './backup-view.ts'
import { budgetViews } from './budget-view.ts'
import { calendarView, windowNow } from './calendar-view.ts'
import { causesOf } from './causes.ts'
import { nodeDetail } from './node-detail.ts'
import { nodeTile } from './node-tile.ts'
import { UpdateRoster } from './update-roster.ts'
import { updateView } from './update-view.ts'
import { titleOf, waitsFor } from './who-must-act.ts'

const now = new Date('2026-01-05T10:00:00Z')
const meta = (name: string) => ({
  name,
  uid: `uid-${name}`,
  resourceVersion: '1',
  creationTimestamp: '2026-01-05T08:00:00Z',
})

function node(
  name: string,
  change: { labels?: Record<string, string>; cordoned?: boolean; ready?: boolean } = {},
): Node {
  const { labels = {}, cordoned, ready = true } = change
  const role: Record<string, string> = name.startsWith('cp') ? { 'node-role.kubernetes.io/control-plane': '' } : {}
  return {
    metadata: { ...meta(name), labels: { ...role, ...labels } },
    spec: cordoned ? { unschedulable: true } : {},
    status: {
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
      nodeInfo: { kubeletVersion: 'v1.35.4', bootID: 'b' },
    },
  }
}

const plain: DirectUpdate = {
  metadata: { ...meta('up'), generation: 1 },
  spec: {
    kubernetes: { version: 'v1.36.3' },
    strategy: { maxUnavailable: 2, waves: [{ size: 1, soak: '10m', promotion: 'Manual' }, { size: '100%' }] },
  },
}
const operation = operationID(plain)
const update: DirectUpdate = {
  ...plain,
  status: { phase: 'InProgress', operationID: operation, startedAt: '2026-01-05T09:00:00Z', observedGeneration: 1 },
}

function state(name: string, rollout: Partial<Rollout>): NodeState {
  const base = {
    update: 'up',
    operationID: operation,
    phase: 'Pending',
    since: '2026-01-05T09:30:00Z',
    attempt: 1,
  } as const
  return { metadata: meta(name), spec: {}, status: { rollout: { ...base, ...rollout } } }
}

const backup = {
  step: 'ControlPlane v1.36.3',
  store: 'main',
  node: 'cp1',
  location: 's3://b/x',
  sha256: 'a'.repeat(64),
  bytes: 7,
  revision: '12',
  verified: 'Hash',
  at: '2026-01-05T09:00:00Z',
} as const

function rosterOf(of: DirectUpdate, members: readonly (readonly [Node, NodeState?])[]): UpdateRoster {
  const roster = new UpdateRoster(of, undefined)
  for (const [one, its] of members) roster.note(one.metadata.name, one, its, false)
  return roster
}

describe('tiles', () => {
  it.each([
    ['nothing goes on', node('w1'), undefined, undefined, { phase: 'Idle', waits: false }],
    ['a person cordoned it', node('w1', { cordoned: true }), undefined, undefined, { phase: 'Cordoned' }],
    ['its kubelet is silent', node('w1', { ready: false }), undefined, undefined, { phase: 'NotReady' }],
    [
      'it waits its turn',
      node('w1'),
      undefined,
      { update: 'up', standing: 'waiting', wave: 2 },
      { phase: 'Pending', wave: 2, update: 'up' },
    ],
    ['it is left out', node('w1'), undefined, { update: 'up', standing: 'skipped' }, { phase: 'Skipped' }],
    [
      'it drains',
      node('w1'),
      state('w1', { phase: 'Draining' }),
      { update: 'up', standing: 'working' },
      { phase: 'Draining', since: '2026-01-05T09:30:00Z' },
    ],
    [
      'it was done, and a person keeps it',
      node('w1', { cordoned: true }),
      state('w1', { phase: 'Done' }),
      { update: 'up', standing: 'done' },
      { phase: 'Cordoned' },
    ],
    [
      'it was done for an update that is gone',
      node('w1'),
      state('w1', { phase: 'Done' }),
      undefined,
      { phase: 'Idle' },
    ],
  ] as const)('%s', (_, one, its, place, expected) => {
    expect(nodeTile(one, its, place)).toMatchObject(expected)
  })

  it('a reason makes it wait; zone and pool come from labels', () => {
    const reason = { code: 'BudgetSpent', message: 'as many are away as may be' } as const
    const labels = { 'topology.kubernetes.io/zone': 'eu-1a', 'karpenter.sh/nodepool': 'gpu' }
    const tile = nodeTile(node('w1', { labels }), undefined, { update: 'up', standing: 'waiting', reason })
    expect(tile).toMatchObject({ zone: 'eu-1a', group: 'gpu', waits: true, reason })
  })
})

describe('rosters', () => {
  it('put the control plane first, then workers wave by wave; who has nothing to do is in none', () => {
    const done = node('w9')
    const atTarget = { ...done, status: { ...done.status, nodeInfo: { kubeletVersion: 'v1.36.3', bootID: 'b' } } }
    const roster = rosterOf(update, [[node('w2')], [node('w10')], [node('cp1')], [node('w1')], [atTarget]])
    expect(roster.waves().map(({ members }) => members.map(({ name }) => name))).toEqual([
      ['cp1'],
      ['w1'],
      ['w2', 'w10'],
    ])
    expect(roster.waveOf('w10')).toBe(2)
    expect(roster.get('w9')?.standing).toBe('skipped')
  })

  it('a change of one node leaves the order as it is, unless somebody moves', () => {
    const roster = rosterOf(update, [[node('w1')], [node('w2')]])
    roster.waves()
    expect(roster.note('w1', node('w1'), state('w1', { phase: 'Draining' }), true)).toBe(true)
    expect(roster.isUnsorted).toBe(false)
    expect(roster.note('w1', node('w1'), state('w1', { phase: 'Draining' }), true)).toBe(false)
    roster.note('w2', undefined, undefined, false)
    expect(roster.isUnsorted).toBe(true)
  })

  it('remember when a node was taken, for later its steps alone tell', () => {
    const roster = rosterOf(update, [[node('w1'), state('w1', { phase: 'Draining', since: '2026-01-05T09:10:00Z' })]])
    roster.note('w1', node('w1'), state('w1', { phase: 'Done', finishedAt: '2026-01-05T09:20:00Z' }), false)
    expect(roster.get('w1')).toMatchObject({ startedMs: Date.parse('2026-01-05T09:10:00Z') })
  })
})

describe('an update', () => {
  it('past waves by what was measured, coming ones by a forecast with a range', () => {
    const ended = state('cp1', { phase: 'Done', finishedAt: '2026-01-05T09:10:00Z' })
    const roster = new UpdateRoster(update, undefined)
    roster.note('cp1', node('cp1'), state('cp1', { phase: 'Draining', since: '2026-01-05T09:00:00Z' }), true)
    roster.note('cp1', node('cp1'), ended, false)
    for (const name of ['w1', 'w2', 'w3']) roster.note(name, node(name), undefined, false)
    const view = updateView({ update, roster, policy: undefined, now })
    expect(view.counts).toMatchObject({ total: 4, done: 1, waiting: 3 })
    expect(view.waves[0]).toMatchObject({
      title: 'control plane',
      startedAt: '2026-01-05T09:00:00.000Z',
      finishedAt: '2026-01-05T09:10:00.000Z',
    })
    expect(view.waves[0]).not.toHaveProperty('predicted')
    // Ten minutes a node: one, ten minutes of looking, then two at once.
    expect(view.waves.slice(1).map(({ predicted }) => predicted)).toEqual([
      { startsAt: '2026-01-05T10:00:00.000Z', endsAt: '2026-01-05T10:10:00.000Z' },
      { startsAt: '2026-01-05T10:20:00.000Z', endsAt: '2026-01-05T10:30:00.000Z' },
    ])
    const { earliest = '', likely = '', latest = '' } = view.endsAt ?? {}
    expect(earliest < likely && likely < latest).toBe(true)
  })

  it('asks for an approval, and tells who gave it', () => {
    const wave = { index: 0, of: 2, size: 1, since: '2026-01-05T09:00:00Z', promotion: 'Wanted' } as const
    const asking: DirectUpdate = { ...update, status: { ...update.status, wave } }
    const look = (of: DirectUpdate) => {
      const roster = rosterOf(of, [
        [node('w1'), state('w1', { phase: 'Done', finishedAt: '2026-01-05T09:20:00Z' })],
        [node('w2')],
      ])
      return updateView({ update: of, roster, policy: undefined, now }).waves[0]?.approval
    }
    expect(look(asking)).toEqual({ asked: true })
    const approval = { operationID: operation, wave: 0, by: 'mira', at: '2026-01-05T09:50:00Z' }
    expect(look({ ...asking, spec: { ...asking.spec, approvals: [approval] } })).toEqual({
      asked: false,
      by: 'mira',
      at: approval.at,
    })
  })

  it('tells what it was refused for, and what it went through before', () => {
    const condition = {
      type: 'Planned',
      status: 'False',
      reason: 'Downgrade',
      message: 'w1 runs v1.37.0',
      lastTransitionTime: '2026-01-05T09:00:00Z',
    } as const
    const history = [
      {
        generation: 1,
        operationID: 'up/0',
        phase: 'Failed',
        startedAt: '2026-01-01T00:00:00Z',
        finishedAt: '2026-01-01T01:00:00Z',
      } as const,
    ]
    const refused: DirectUpdate = { ...update, status: { ...update.status, conditions: [condition], history } }
    const view = updateView({ update: refused, roster: rosterOf(refused, []), policy: undefined, now })
    expect(view.reason).toMatchObject({ code: 'Downgrade', message: 'w1 runs v1.37.0' })
    expect(view.history.map(({ phase }) => phase)).toEqual(['InProgress', 'Failed'])
  })
})

describe('causes', () => {
  const budget = (pod: string) => ({
    pod: `shop/${pod}`,
    state: 'Blocked' as const,
    reason: {
      code: 'PodDisruptionBudget' as const,
      message: `shop/${pod} waits for PodDisruptionBudget shop/cart (0 allowed)`,
      since: '2026-01-05T09:40:00Z',
    },
  })
  const stepFailed = { code: 'StepFailed' as const, message: 'step script failed with exit code 1' }
  const draining = (name: string, pod: string) =>
    state(name, { phase: 'Draining', drain: { total: 3, left: 1, pods: [budget(pod)] } })
  const tileOf = (its: NodeState) => nodeTile(node(its.metadata.name), its, { update: 'up', standing: 'working' })

  it('two drains held up by one budget are one cause, with the way down to it', () => {
    const states = [draining('w1', 'a'), draining('w2', 'b')]
    const causes = causesOf({
      updates: [update],
      policy: undefined,
      waiting: states.map(tileOf),
      stateOf: (name) => states.find(({ metadata }) => metadata.name === name),
    })
    expect(causes).toHaveLength(1)
    expect(causes[0]).toMatchObject({
      code: 'PodDisruptionBudget',
      waitsFor: 'Cluster',
      nodes: ['w1', 'w2'],
      updates: ['up'],
      command: 'slipway why w1',
    })
    expect(causes[0]?.because.map(({ what }) => what)).toEqual([
      'update up',
      'node w1',
      'pod shop/a',
      'PodDisruptionBudget shop/cart',
    ])
  })

  it.each([
    ['a drain', draining('w1', 'a'), budget('a').reason],
    ['a failure', state('w1', { phase: 'Failed', reason: stepFailed }), stepFailed],
  ])('what holds %s up is told once, though the update tells it of its nodes, too', (_, its, reason) => {
    const status = { ...update.status, nodes: [{ name: 'w1', phase: 'Draining' as const, reason }] }
    const causes = causesOf({
      updates: [{ ...update, status }],
      policy: undefined,
      waiting: [tileOf(its)],
      stateOf: () => its,
    })
    expect(causes.map(({ code, nodes }) => [code, nodes])).toEqual([[reason.code, ['w1']]])
  })

  it('one budget is one cause, whatever stands behind its name', () => {
    const pods = [': web-1 goes first', '; the API server evicts no such pod', ' (0 allowed)'].map((rest) => {
      const message = `shop/a waits for PodDisruptionBudget shop/cart${rest}`
      return { ...budget('a'), reason: { ...budget('a').reason, message } }
    })
    const its = state('w1', { phase: 'Draining', drain: { total: 3, left: 3, pods } })
    const causes = causesOf({ updates: [update], policy: undefined, waiting: [tileOf(its)], stateOf: () => its })
    expect(causes.map(({ because }) => because.at(-1)?.what)).toEqual(['PodDisruptionBudget shop/cart'])
  })

  it('of hundreds that wait for one thing all are counted once, and the first are named', () => {
    const states = Array.from({ length: 300 }, (_, at) => {
      const name = `w${at + 1}`
      return state(name, { phase: 'Draining', drain: { total: 3, left: 2, pods: [budget('a'), budget('b')] } })
    })
    const causes = causesOf({
      updates: [update],
      policy: undefined,
      waiting: states.map(tileOf),
      stateOf: (name) => states.find(({ metadata }) => metadata.name === name),
    })
    expect(causes.map(({ nodeCount }) => nodeCount)).toEqual([300])
    expect(causes[0]?.nodes).toEqual(Array.from({ length: 200 }, (_, at) => `w${at + 1}`))
  })

  it('who must act comes first: a person, the cluster, the clock', () => {
    const condition = (type: string, reason: string) =>
      ({ type, status: 'True', reason, message: reason, lastTransitionTime: '2026-01-05T09:00:00Z' }) as const
    const blocked = (name: string, reason: string): DirectUpdate => ({
      ...update,
      metadata: { ...update.metadata, name },
      // That it stands still is no cause of its own.
      status: { ...update.status, conditions: [condition('Stalled', 'InProgress'), condition('Blocked', reason)] },
    })
    const updates = [blocked('a', 'OutsideWindow'), blocked('b', 'BudgetSpent'), blocked('c', 'ApprovalWanted')]
    const policy: MaintenancePolicy = { metadata: meta('default'), spec: { paused: true } }
    const causes = causesOf({ updates, policy, waiting: [], stateOf: () => undefined })
    expect(causes.map(({ waitsFor: who }) => who)).toEqual(['Person', 'Person', 'Cluster', 'Clock'])
    expect(causes.find(({ code }) => code === 'ApprovalWanted')?.command).toBe('slipway approve c')
    expect(new Set(causes.map(({ key }) => key)).size).toBe(4)
  })

  it('a backup that failed, until one was made, also for an update', () => {
    const reason = { code: 'BackupFailed' as const, message: 'the bucket is gone' }
    const lastFailure = { subject: 'asked x', at: '2026-01-05T08:30:00Z', reason }
    const policy = { metadata: meta('default'), spec: {}, status: { backups: [{ store: 'main', lastFailure }] } }
    const made = (store: string, at: string): DirectUpdate => ({
      ...update,
      status: { ...update.status, backups: [{ ...backup, store, at }] },
    })
    const codes = (...updates: readonly DirectUpdate[]) =>
      causesOf({ updates: updates.values(), policy, waiting: [], stateOf: () => undefined }).map(({ code }) => code)
    expect(codes(made('main', '2026-01-05T08:00:00Z'), made('other', '2026-01-05T09:00:00Z'))).toEqual(['BackupFailed'])
    expect(codes(made('main', '2026-01-05T09:00:00Z'), made('main', '2026-01-05T08:00:00Z'))).toEqual([])
  })

  it('a code of a newer operator asks for a person, and has a title all the same', () => {
    expect(waitsFor('SomethingNew')).toBe('Person')
    expect(titleOf('SomethingNew')).toBe('Something new')
  })
})

describe('budgets, calendar, backups', () => {
  const policy: MaintenancePolicy = {
    metadata: meta('default'),
    spec: {
      budgets: [{ maxUnavailable: '50%' }, { per: 'topology.kubernetes.io/zone', maxUnavailable: 1 }],
      windows: [{ days: ['Mon'], start: '09:00', end: '11:00' }],
      freezes: [{ from: '2026-01-07', to: '2026-01-08', reason: 'sale' }],
      backupStores: [
        {
          name: 'main',
          s3: { bucket: 'b', secret: 's' },
          encryption: { secret: 'k' },
          schedule: { cron: '0 2 * * *' },
        },
      ],
    },
    status: {
      ledger: { epoch: 1, grants: [{ node: 'w1', nodeUID: 'u', holder: operation, since: '2026-01-05T09:00:00Z' }] },
    },
  }

  it('a slot is ours by its grant, and somebody else’s where a node is away for another cause', () => {
    const zone = (name: string) => ({ 'topology.kubernetes.io/zone': name })
    const all = [
      node('w1', { labels: zone('a') }),
      node('w2', { labels: zone('b'), cordoned: true }),
      node('w3', { labels: zone('b') }),
      node('w4', { labels: zone('a') }),
    ]
    const views = budgetViews({ nodes: all, policy, tileOf: () => undefined })
    expect(
      views.map(({ title, limit, used }) => [title, limit, used.map(({ node: name, holder }) => `${name} ${holder}`)]),
    ).toEqual([
      ['cluster', 2, ['w1 up', 'w2 not ours']],
      ['zone a', 1, ['w1 up']],
      ['zone b', 1, ['w2 not ours']],
    ])
  })

  it('the coming seven days', () => {
    const view = calendarView(policy.spec, [], now)
    expect(view.windows.map(({ from, to }) => [from, to])).toEqual([
      ['2026-01-05T09:00:00.000Z', '2026-01-05T11:00:00.000Z'],
      ['2026-01-12T09:00:00.000Z', '2026-01-12T11:00:00.000Z'],
    ])
    expect(view.freezes).toEqual([{ from: '2026-01-07T00:00:00.000Z', to: '2026-01-09T00:00:00.000Z', reason: 'sale' }])
    expect(windowNow(policy.spec, now)).toEqual({ open: true, always: false, until: '2026-01-05T11:00:00.000Z' })
    expect(windowNow(policy.spec, new Date('2026-01-05T12:00:00Z'))).toMatchObject({
      open: false,
      until: '2026-01-12T09:00:00.000Z',
    })
    expect(windowNow(undefined, now)).toEqual({ open: true, always: true })
  })

  it('a store with its last backup, whoever asked for it', () => {
    const made: DirectUpdate = { ...update, status: { ...update.status, backups: [backup] } }
    expect(backupsOf(made)).toEqual([
      expect.objectContaining({ revision: 12, reason: 'update up, before ControlPlane v1.36.3' }),
    ])
    expect(storeViews(policy, [made], [])).toEqual([
      expect.objectContaining({
        name: 'main',
        kind: 's3',
        encrypted: true,
        schedule: '0 2 * * * UTC',
        last: expect.objectContaining({ location: 's3://b/x' }),
      }),
    ])
  })
})

describe('one node in full', () => {
  it('its life up to now, and where it broke', () => {
    const lifeOf = (its: NodeState) =>
      nodeDetail(nodeTile(node('w1'), its, undefined), node('w1'), its).life.map(
        ({ phase, state: at }) => `${phase} ${at}`,
      )
    expect(lifeOf(state('w1', { phase: 'Working' }))).toEqual([
      'Pending Done',
      'Staging Done',
      'Draining Done',
      'Assigned Done',
      'Working Now',
      'Verifying Next',
      'Done Next',
    ])
    const broken = state('w1', { phase: 'Failed', drain: { total: 1, left: 1, pods: [] } })
    expect(lifeOf(broken)).toEqual([
      'Pending Done',
      'Staging Done',
      'Draining Done',
      'Failed Now',
      'Assigned Next',
      'Working Next',
      'Verifying Next',
      'Done Next',
    ])
  })

  it.each<[string, boolean, readonly string[]]>([
    ['undone', true, ['Working Done', 'RolledBack Done', 'Failed Now', 'Verifying Next']],
    ['as it was left', false, ['Assigned Done', 'Working Done', 'Failed Now', 'Verifying Next']],
  ])('that its work failed, and is %s', (_name, rolledBack, around) => {
    const id = `${operation}/1`
    const steps = [{ name: 'script', state: 'Failed', attempts: 1 } as const]
    const { rollout } = state('w1', { phase: 'Failed' }).status ?? {}
    const report = { id, state: 'Failed', rolledBack, steps } as const
    const its = sampleState('w1', { ...(rollout && { rollout }), order: order({ id }), report })
    const { life } = nodeDetail(nodeTile(node('w1'), its, undefined), node('w1'), its)
    const all = life.map(({ phase, state: at }) => `${phase} ${at}`)
    expect(all.slice(all.indexOf('Failed Now') - 2, all.indexOf('Failed Now') + 2)).toEqual(around)
  })
})
