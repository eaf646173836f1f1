import { expect, test } from 'vitest'
import type { PolicyView, UpdateView } from '../../../api/console.ts'
import { offeredActions } from './update-actions.ts'

const running: UpdateView = {
  ...{ name: 'up', phase: 'InProgress', desiredState: 'Running', target: 'v1.36.3', steps: [], failuresAllowed: 0 },
  counts: { total: 3, done: 0, working: 1, waiting: 2, failed: 0, skipped: 0 },
  ...{ waves: [], backups: [], preflight: [], warnings: [], history: [] },
}
const asking = [{ title: 'wave 1', nodes: 1, done: 1, failed: 0, approval: { asked: true } }]

const open = { open: true, always: false }
const closed = { open: false, always: false }
/** No window is declared, and a freeze is on. */
const frozen = { open: false, always: true, until: '2026-12-27T00:00:00Z' }

test.each<[string, Partial<UpdateView>, PolicyView['window'] | undefined, readonly string[]]>([
  ['it runs', {}, open, ['pause', 'cancel']],
  ['its window is closed', {}, closed, ['run-now', 'pause', 'cancel']],
  ['a freeze is on', {}, frozen, ['run-now', 'pause', 'cancel']],
  ['nothing is known of windows', {}, undefined, ['pause', 'cancel']],
  ['it is paused', { desiredState: 'Paused', phase: 'Paused' }, open, ['resume', 'cancel']],
  ['a wave asks', { waves: asking }, open, ['pause', 'cancel', 'approve']],
  ['a node failed, and it goes on', { counts: { ...running.counts, failed: 1 } }, open, ['retry', 'pause', 'cancel']],
  ['it failed', { phase: 'Failed' }, closed, ['retry']],
  ['it is being cancelled', { desiredState: 'Cancelled', counts: { ...running.counts, failed: 1 } }, closed, []],
  ['it is being deleted', { phase: 'Deleting' }, closed, []],
  ['it succeeded', { phase: 'Succeeded' }, closed, []],
])('%s', (_, change, window, expected) => {
  expect(offeredActions({ ...running, ...change }, window)).toEqual(expected)
})
