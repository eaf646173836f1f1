import { expect, test } from 'vitest'
import { parsePlan, parseUpdate } from './parse-update.ts'

const head = (kind: string) => `apiVersion: slipway.dev/v1alpha1\nkind: ${kind}\nmetadata: { name: nightly }\n`
const work = '{ kubernetes: { version: v1.36.3 } }'
const spec = { kubernetes: { version: 'v1.36.3' } }

test.each([
  ['DirectUpdate', `spec: ${work}`],
  ['ScheduledUpdate', `spec: { at: '2026-12-01T22:00:00Z', template: { spec: ${work} } }`],
  ['UpdateSchedule', `spec: { cron: 0 22 * * 6, template: { spec: ${work} } }`],
])('a plan is made of a %s', (kind, rest) => {
  expect(parsePlan(`${head(kind)}${rest}`, 'id')).toEqual({ kind, name: 'nightly', spec })
})

test.each([
  ['another kind of ours', `${head('NodeProfile')}spec: {}`, 'a NodeProfile cannot be planned: plan a DirectUpdate'],
  ['a foreign kind', 'apiVersion: apps/v1\nkind: Deployment', 'it is not a DirectUpdate'],
  ['a schedule without times', `${head('UpdateSchedule')}spec: { template: { spec: ${work} } }`, 'spec.cron'],
  ['a schedule of nothing', `${head('ScheduledUpdate')}spec: { at: '2026-12-01T22:00:00Z' }`, 'spec.template'],
  ['a name of Object’s own', `${head('toString')}spec: {}`, 'it is not a DirectUpdate'],
])('%s is refused', (_, text, message) => {
  expect(() => parsePlan(text, 'id')).toThrow(message)
})

test('a schedule is no update to create', () => {
  expect(() => parseUpdate(`${head('UpdateSchedule')}spec: {}`, 'id')).toThrow('it is not a DirectUpdate')
})
