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
