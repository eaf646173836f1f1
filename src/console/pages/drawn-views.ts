// Views as a server would send them, for tests of what the pages make of them.

import type { PlanAnswer, UpdateView } from '../../api/console.ts'

export function drawnUpdate(facts: Partial<UpdateView> = {}): UpdateView {
  return {
    name: 'to-1-36',
    phase: 'InProgress',
    desiredState: 'Running',
    target: 'v1.36.3',
    steps: [],
    counts: { total: 10, done: 4, working: 2, waiting: 4, failed: 0, skipped: 0 },
    failuresAllowed: 0,
    waves: [],
    backups: [],
    preflight: [],
    warnings: [],
    history: [],
    ...facts,
  }
}

export function drawnPlan(facts: Partial<PlanAnswer> = {}): PlanAnswer {
  return {
    id: 'plan-1',
    update: 'to-1-36',
    at: '2026-11-14T21:00:00Z',
    target: 'v1.36.3',
    verdict: 'clear',
    rehearsals: 5,
    nodes: 3,
    durationSeconds: { least: 1, expected: 600, most: 9_999 },
    durations: [],
    blockers: [],
    waves: [],
    preflight: [],
    assumptions: [],
    manifest: '',
    command: '',
    ...facts,
  }
}
