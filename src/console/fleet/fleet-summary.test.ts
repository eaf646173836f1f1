import { expect, test } from 'vitest'
import type { NodeTile, UpdateView } from '../../api/console.ts'
import { fleetSentence, fleetTitle, phaseCounts } from './fleet-summary.ts'

let made = 0
function tile(phase: NodeTile['phase'], more: Partial<NodeTile> = {}): NodeTile {
  made += 1
  const place = { name: `n${made}`, zone: 'a', group: 'Worker', role: 'Worker' } as const
  return { ...place, phase, waits: false, kubelet: 'v1.34.4', ...more }
}

function update(more: Partial<UpdateView>): UpdateView {
  const counts = { total: 2, done: 1, working: 1, waiting: 0, failed: 0, skipped: 0 }
  const none = { steps: [], waves: [], backups: [], preflight: [], warnings: [], history: [] }
  return {
    ...{ name: 'to-1-36', phase: 'InProgress', desiredState: 'Running', target: 'v1.36.3', failuresAllowed: 0 },
    ...{ startedAt: '2026-11-14T22:00:00Z', counts, ...none, ...more },
  }
}

function title(tiles: readonly NodeTile[], ...updates: readonly UpdateView[]): string {
  return fleetTitle({
    nodes: Object.fromEntries(tiles.map((one) => [one.name, one])),
    updates: Object.fromEntries(updates.map((one) => [one.name, one])),
  })
}

const two = [tile('Done', { kubelet: 'v1.36.3' }), tile('Working')]

test.each([
  ['counts kubelets where a version is the target', [update({})], '1 of 2 nodes run v1.36.3'],
  ['says v once', [update({ target: '1.36.3' })], '1 of 2 nodes run v1.36.3'],
  [
    'counts its nodes where the target is another',
    [update({ target: 'packages' })],
    '1 of 2 nodes are done with to-1-36',
  ],
  ['says what runs where nothing is going on', [update({ finishedAt: '2026-11-15T00:00:00Z' })], '2 nodes, 2 versions'],
])('the title %s', (_, updates, text) => {
  expect(title(two, ...updates)).toBe(text)
})

test.each([
  [[tile('Done')], false, 'Nothing is under work, nothing waits.'],
  [[tile('Draining', { waits: true }), tile('Working')], false, '2 are under work, 1 of them waits.'],
  [[tile('Failed', { waits: true }), tile('RequiresAttention')], false, '1 failed, 1 needs attention.'],
  [[tile('Working'), tile('Pending', { waits: true })], false, '1 is under work. 1 more waits.'],
  [[tile('Done')], true, 'Emergency stop: nothing new starts.'],
])('the sentence of %#', (tiles, paused, text) => {
  expect(fleetSentence(tiles, phaseCounts(tiles), paused)).toBe(text)
})
