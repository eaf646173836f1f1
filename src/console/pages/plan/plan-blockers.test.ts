import { expect, test } from 'vitest'
import { drawnPlan } from '../drawn-views.ts'
import { certainOf, possibleOf, warningsOf } from './plan-blockers.ts'

const plan = drawnPlan({
  blockers: [
    { certainty: 'certain', code: 'DriverMissing', message: 'no driver', nodes: ['w1'] },
    { certainty: 'possible', code: 'PodDisruptionBudget', message: 'full', nodes: [] },
  ],
  preflight: [
    { check: 'Agents', result: 'Failed', message: 'no driver' },
    { check: 'DiskSpace', result: 'Failed', message: 'w2 is full' },
    { check: 'RemovedApis', result: 'Warning', message: 'two clients' },
    { check: 'ApiReady', result: 'Passed', message: 'ready' },
  ],
})

test('what a rehearsal met and a check refuses stands once, with its nodes', () => {
  expect(certainOf(plan).map(({ code, nodes }) => [code, nodes])).toEqual([
    ['DriverMissing', ['w1']],
    ['DiskSpace', []],
  ])
})

test('the rest may hold it up, or is worth knowing', () => {
  expect(possibleOf(plan).map(({ code }) => code)).toEqual(['PodDisruptionBudget'])
  expect(warningsOf(plan).map(({ code }) => code)).toEqual(['RemovedApis'])
})
