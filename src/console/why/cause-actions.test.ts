import { describe, expect, it } from 'vitest'
import type { CauseView, NodeTile } from '../../api/console.ts'
import { causeActions } from './cause-actions.ts'

const cause: CauseView = {
  key: 'PodDisruptionBudget shop/web',
  code: 'PodDisruptionBudget',
  waitsFor: 'Person',
  title: 'shop/web allows no disruption',
  message: 'it allows none',
  nodes: ['n1', 'n2'],
  nodeCount: 2,
  because: [],
  command: 'slipway why u1',
  updates: ['u1', 'u2'],
  profiles: [],
}

function asked(...tiles: readonly Pick<NodeTile, 'phase' | 'update'>[]) {
  return causeActions(cause, Object.fromEntries(tiles.map((tile, at) => [`n${at + 1}`, tile]))).map(
    ({ request }) => request,
  )
}

describe('what can be done about a budget', () => {
  it('leaves out of an update only nodes of its own', () => {
    expect(asked({ phase: 'Draining', update: 'u1' }, { phase: 'Draining', update: 'u2' })).toEqual([
      { action: 'hold', nodes: ['n1', 'n2'] },
      { action: 'skip', update: 'u1', nodes: ['n1'] },
    ])
  })

  it('tries again only nodes that failed', () => {
    expect(asked({ phase: 'RequiresAttention', update: 'u1' }, { phase: 'Draining', update: 'u1' })).toEqual([
      { action: 'retry', update: 'u1', nodes: ['n1'] },
      { action: 'skip', update: 'u1', nodes: ['n1', 'n2'] },
    ])
  })
})
