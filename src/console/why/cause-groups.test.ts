import { expect, test } from 'vitest'
import type { CauseView, NodeTile } from '../../api/console.ts'
import { causeActions } from './cause-actions.ts'
import { causeGroups, causesTitle, heldText, matchingCauses } from './cause-groups.ts'

function cause(code: string, waitsFor: CauseView['waitsFor'], more: Partial<CauseView> = {}): CauseView {
  const about = { nodes: ['w-1'], updates: ['to-1-36'], profiles: [], because: [], command: 'slipway why w-1' }
  const nodeCount = (more.nodes ?? about.nodes).length
  return { key: code, code, title: code, message: `about ${code}`, waitsFor, ...about, nodeCount, ...more }
}

function tile(name: string, more: Partial<NodeTile>): NodeTile {
  const place = { zone: 'a', group: 'Worker', role: 'Worker', kubelet: 'v1.36.3' } as const
  return { name, ...place, phase: 'Pending', waits: false, ...more }
}

const soak = cause('WaveSoaking', 'Clock')
const pdb = cause('PodDisruptionBudget', 'Cluster', { because: [{ what: 'PDB shop/checkout', detail: '0 of 1' }] })
const failed = cause('HealthTimedOut', 'Person', { nodes: ['w-9'] })

const update = 'to-1-36'
const draining = { 'w-1': { phase: 'Draining', update } } as const
const broken = { 'w-1': { phase: 'Failed', update }, 'w-9': { phase: 'RequiresAttention', update } } as const

test('who must act comes first, and an empty group is not shown', () => {
  expect(causeGroups([soak, pdb, failed]).map(({ title }) => title)).toEqual([
    'Needs a person',
    'Waits for the cluster',
    'Waits for the clock',
  ])
  expect(causeGroups([soak]).map(({ title }) => title)).toEqual(['Waits for the clock'])
})

test.each([
  [[], 'Nothing waits'],
  [[failed], '1 cause, it needs a person'],
  [[soak], '1 cause, none needs a person'],
  [[soak, pdb, failed], '3 causes, 1 of them needs a person'],
])('%#: the title says it', (causes, text) => {
  expect(causesTitle(causes)).toBe(text)
})

test('a search looks into nodes, updates and the chain; all words must be there', () => {
  expect(matchingCauses([soak, pdb, failed], 'W-9', {})).toEqual([failed])
  expect(matchingCauses([soak, pdb, failed], 'shop/checkout 0', {})).toEqual([pdb])
  expect(matchingCauses([soak, pdb, failed], 'shop/checkout w-9', {})).toEqual([])
})

test('of a cause that names some of its nodes the others are found by what their tiles say they wait for', () => {
  const spent = cause('BudgetSpent', 'Cluster', { nodes: ['w-1'], nodeCount: 3 })
  const reason = { code: 'BudgetSpent', message: 'as many are away as may be' } as const
  const tiles = Object.fromEntries(
    [
      tile('w-2', { update: 'to-1-36', reason, waits: true }),
      tile('w-3', { update: 'other', reason, waits: true }),
      tile('w-4', { update: 'to-1-36', reason: { ...reason, code: 'OutsideWindow' }, waits: true }),
      tile('w-5', { update: 'to-1-36', reason, waits: false }),
    ].map((one) => [one.name, one]),
  )
  const found = (search: string) => matchingCauses([spent], search, tiles).length > 0
  expect(['w-1', 'w-2', 'w-3', 'w-4', 'w-5'].filter(found)).toEqual(['w-1', 'w-2'])
  expect(matchingCauses([{ ...spent, nodeCount: 1 }], 'w-2', tiles)).toEqual([])
  const ofProfile = { ...spent, updates: [], profiles: ['base'] }
  const drifted = { 'w-6': tile('w-6', { profile: 'base', reason, waits: true }) }
  expect(matchingCauses([ofProfile], 'w-6', drifted)).toEqual([ofProfile])
})

test.each([
  [{ nodes: ['w-1'], nodeCount: 1 }, '1 node'],
  [{ nodes: ['w-1', 'w-2'], nodeCount: 4_321 }, '4,321 nodes'],
  [{ nodes: [], updates: ['a', 'b'] }, '2 updates'],
  [{ nodes: [], updates: [] }, ''],
])('%j holds up %s', (more, text) => {
  expect(heldText(cause('BudgetSpent', 'Cluster', more))).toBe(text)
})

test.each([
  ['ApprovalWanted', 'Person', ['approve']],
  ['UpdatePaused', 'Person', ['resume']],
  ['FailuresReached', 'Person', ['retry']],
  ['FailedNodesInTheWay', 'Person', ['retry']],
  ['PolicyPaused', 'Person', ['go-on-all']],
  ['NodeOnHold', 'Person', ['release']],
  ['OutsideWindow', 'Clock', ['run-now']],
  ['WaveSoaking', 'Clock', []],
  ['BudgetSpent', 'Cluster', []],
  ['PodDisruptionBudget', 'Cluster', ['hold', 'skip']],
  ['PodUnmanaged', 'Person', ['hold', 'skip']],
  ['HookFailed', 'Person', ['retry']],
  ['BackupFailed', 'Person', ['retry']],
] as const)('of %s one may ask for %j', (code, waitsFor, actions) => {
  expect(causeActions(cause(code, waitsFor), draining).map(({ request }) => request.action)).toEqual(actions)
})

test('nodes that failed may be tried again', () => {
  expect(causeActions(failed, broken).map(({ request }) => request.action)).toEqual(['retry', 'skip'])
})

test.each([
  ['StepFailed', 'Person', ['base'], broken, ['retry-profile', 'release']],
  ['FailedNodesInTheWay', 'Person', ['base'], draining, ['retry-profile']],
  ['PodDisruptionBudget', 'Cluster', ['base'], draining, ['hold']],
  ['PodUnmanaged', 'Person', ['base'], draining, ['hold']],
  ['OutsideWindow', 'Clock', ['base'], draining, []],
  ['StepFailed', 'Person', [], broken, ['release']],
] as const)(
  'of %s that %s must end for the profiles %j one may ask, %#',
  (code, waitsFor, profiles, tiles, actions) => {
    const requests = causeActions(cause(code, waitsFor, { updates: [], profiles }), tiles).map(({ request }) => request)
    expect(requests.map(({ action }) => action)).toEqual(actions)
    expect(requests.every(({ action, profile }) => (action === 'retry-profile') === (profile === 'base'))).toBe(true)
  },
)

test('more nodes than can be named are tried again without their names, and not left out', () => {
  const nodes = Array.from({ length: 101 }, (_, at) => `w-${at}`)
  const asked = (more: Partial<CauseView>) =>
    causeActions(cause('StepFailed', 'Person', { nodes, ...more }), tiles).map(({ request }) => request)
  let tiles: Parameters<typeof causeActions>[1] = { 'w-7': { phase: 'Failed' } }
  expect(asked({})).toEqual([{ action: 'retry', update: 'to-1-36' }])
  expect(asked({ updates: [], profiles: ['base'] })).toEqual([{ action: 'retry-profile', profile: 'base' }])
  tiles = {}
  expect(asked({ waitsFor: 'Cluster' })).toEqual([])
})

test('skip asks again: no button takes it back', () => {
  const skip = causeActions(failed, broken).find(({ request }) => request.action === 'skip')
  expect(skip?.confirm).toMatchObject({ act: 'Leave it out', command: 'slipway skip to-1-36 w-9' })
})

test('run-now asks again, and for a reason', () => {
  expect(causeActions(cause('Frozen', 'Clock'), {})[0]?.confirm?.asksReason).toBe(true)
})
