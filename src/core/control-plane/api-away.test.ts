import { expect, it } from 'vitest'
import { sampleAgent, sampleNode, sampleState } from '../../../test/samples/cluster-objects.ts'
import { apiAwayWarning } from './api-away.ts'

const node = (name: string) => sampleNode(name, { controlPlane: name.startsWith('cp') })
const external = {
  checkedAt: '2026-01-01T12:00:00Z',
  etcd: { place: 'External' as const, members: [], alarms: [] },
}
const none = { ...external, etcd: { ...external.etcd, place: 'None' as const } }

it.each<[string, readonly string[], readonly string[], boolean | 'Other', string | undefined]>([
  ['the only one', ['cp1', 'w1'], ['cp1', 'w1'], false, 'while cp1 is worked on: it is the only control-plane node'],
  ['one of two', ['cp1', 'cp2'], ['cp2'], false, 'while cp2 is worked on: of two members of etcd none can agree alone'],
  ['both of two', ['cp1', 'cp2'], ['cp1', 'cp2'], false, 'while cp1 and, later, cp2 is worked on'],
  ['two with an etcd elsewhere', ['cp1', 'cp2'], ['cp1'], true, undefined],
  ['the only one with an etcd elsewhere', ['cp1'], ['cp1'], true, 'it is the only control-plane node'],
  ['two on something else than etcd', ['cp1', 'cp2'], ['cp1'], 'Other', undefined],
  ['one of three', ['cp1', 'cp2', 'cp3'], ['cp1'], false, undefined],
  ['workers only', ['cp1', 'w1'], ['w1'], false, undefined],
])('%s', (_, all, selected, isExternal, message) => {
  const agent = sampleAgent(isExternal === false ? {} : { controlPlane: isExternal === 'Other' ? none : external })
  const datastore = isExternal === 'Other' ? 'Other' : undefined
  const warning = apiAwayWarning(all.map(node), selected.map(node), (name) => sampleState(name, { agent }), datastore)
  if (message === undefined) expect(warning).toBeUndefined()
  else expect(warning).toMatchObject({ code: 'ControlPlaneAway', message: expect.stringContaining(message) })
})

it.each([
  [true, '; expect it back after 6m at most (measured on earlier work)'],
  [false, '; expect it back after 6m at most (assumed)'],
])('says for how long, and whether that was measured: %s', (isMeasured, end) => {
  const all = [node('cp1')]
  const warning = apiAwayWarning(all, all, () => undefined, undefined, { ms: 360_000, isMeasured })
  expect(warning?.message.endsWith(end)).toBe(true)
})
