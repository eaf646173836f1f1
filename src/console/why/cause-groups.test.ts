import { expect, test } from 'vitest'
import type { CauseView } from '../../api/console.ts'
import { causeActions } from './cause-actions.ts'
import { causeGroups, causesTitle, matchingCauses } from './cause-groups.ts'

function cause(code: string, waitsFor: CauseView['waitsFor'], more: Partial<CauseView> = {}): CauseView {
  const about = { nodes: ['w-1'], updates: ['to-1-36'], because: [], command: 'slipway why w-1' }
  return { key: code, code, title: code, message: `about ${code}`, waitsFor, ...about, ...more }
}

const soak = cause('WaveSoaking', 'Clock')
const pdb = cause('PodDisruptionBudget', 'Cluster', { because: [{ what: 'PDB shop/checkout', detail: '0 of 1' }] })
const failed = cause('HealthTimedOut', 'Person', { nodes: ['w-9'] })

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
  expect(matchingCauses([soak, pdb, failed], 'W-9')).toEqual([failed])
  expect(matchingCauses([soak, pdb, failed], 'shop/checkout 0')).toEqual([pdb])
  expect(matchingCauses([soak, pdb, failed], 'shop/checkout w-9')).toEqual([])
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
  ['HealthTimedOut', 'Person', ['retry', 'skip']],
] as const)('of %s one may ask for %j', (code, waitsFor, actions) => {
  expect(causeActions(cause(code, waitsFor)).map(({ request }) => request.action)).toEqual(actions)
})

test('run-now asks again, and for a reason', () => {
  expect(causeActions(cause('Frozen', 'Clock'))[0]?.confirm?.asksReason).toBe(true)
})
