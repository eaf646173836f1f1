import { expect, test } from 'vitest'
import type { UpdateView } from '../../../api/console.ts'
import { offeredActions } from './update-actions.ts'

const running: UpdateView = {
  ...{ name: 'up', phase: 'InProgress', desiredState: 'Running', target: 'v1.36.3', steps: [], failuresAllowed: 0 },
  counts: { total: 3, done: 0, working: 1, waiting: 2, failed: 0, skipped: 0 },
  ...{ waves: [], backups: [], preflight: [], warnings: [], history: [] },
}
const asking = [{ title: 'wave 1', nodes: 1, done: 1, failed: 0, approval: { asked: true } }]

test.each<[string, Partial<UpdateView>, boolean, readonly string[]]>([
  ['it runs', {}, false, ['pause', 'cancel']],
  ['its window is closed', {}, true, ['run-now', 'pause', 'cancel']],
  ['it is paused', { desiredState: 'Paused', phase: 'Paused' }, false, ['resume', 'cancel']],
  ['a wave asks', { waves: asking }, false, ['pause', 'cancel', 'approve']],
  ['a node failed, and it goes on', { counts: { ...running.counts, failed: 1 } }, false, ['retry', 'pause', 'cancel']],
  ['it failed', { phase: 'Failed' }, true, ['retry']],
  ['it is being cancelled', { desiredState: 'Cancelled', counts: { ...running.counts, failed: 1 } }, true, []],
  ['it is being deleted', { phase: 'Deleting' }, true, []],
  ['it succeeded', { phase: 'Succeeded' }, true, []],
])('%s', (_, change, isWindowClosed, expected) => {
  expect(offeredActions({ ...running, ...change }, isWindowClosed)).toEqual(expected)
})
