import { expect, it } from 'vitest'
import { upgradeMidway } from '../../../test/cli/cli-fixture.ts'
import { directUpdates } from '../../api/direct-update.ts'
import { nodes } from '../../api/kube.ts'
import { nodeStates } from '../../api/node-state.ts'
import { progressView } from './view.ts'

it('the control plane of an update that is over stays the control plane', () => {
  const api = upgradeMidway()
  const found = api.found(directUpdates, { name: 'to-1-36' })
  const update = { ...found, status: { ...found.status, phase: 'Succeeded' as const } }
  const states = api.stored(nodeStates).map(({ spec: { order: _, ...spec }, ...state }) => ({ ...state, spec }))
  const now = new Date('2026-11-15T12:05:00Z')
  const { waves } = progressView({ now, update, nodes: api.stored(nodes), nodeStates: states, policy: undefined })
  const [first] = waves
  expect(first?.title).toBe('control plane')
  expect(first?.nodes.map(({ name }) => name)).toEqual(['cp1', 'cp2', 'cp3'])
})

const hinted = [
  { where: 'a cluster', shown: 'slipway approve to-1-36' },
  { where: 'a cluster in memory', inMemory: true as const, shown: 'console' },
]
it.each(hinted)('a wave that wants an approval of $where says where to give it', ({ inMemory, shown }) => {
  const api = upgradeMidway()
  const found = api.found(directUpdates, { name: 'to-1-36' })
  const wave = { index: 0, of: 2, size: 1, since: '2026-11-15T12:00:00Z', promotion: 'Wanted' as const }
  const message = 'wave 1 of 2 is done; look at its nodes, then: slipway approve to-1-36'
  const reason = { code: 'ApprovalWanted' as const, message }
  const waiting = { name: 'w9', phase: 'Pending' as const, reason }
  const update = { ...found, status: { ...found.status, phase: 'InProgress' as const, wave, nodes: [waiting] } }
  const w9 = { metadata: { ...found.metadata, name: 'w9' }, spec: {} }
  const now = new Date('2026-11-15T12:05:00Z')
  const { course, waits } = progressView({ now, update, nodes: [w9], nodeStates: [], ...(inMemory && { inMemory }) })
  for (const text of [course, ...waits.map((wait) => wait.reason.message)]) expect(text).toContain(shown)
  expect(waits).toHaveLength(1)
  expect(`${course} ${waits[0]?.reason.message}`.includes('slipway approve')).toBe(!inMemory)
})
