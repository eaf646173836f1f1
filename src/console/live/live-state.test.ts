import { expect, test } from 'vitest'
import type { ConsoleState, NodeTile } from '../../api/console.ts'
import { LiveState } from './live-state.ts'

const place = { zone: 'a', group: 'Worker', role: 'Worker', waits: false, kubelet: 'v1.36.3' } as const
const w1: NodeTile = { name: 'w1', phase: 'Done', ...place }
const w2: NodeTile = { name: 'w2', phase: 'Pending', ...place }
const at = '2026-11-15T01:00:00Z'
const nowMs = Date.parse('2026-11-15T00:00:00Z')
const state: ConsoleState = {
  ...{ at, nodes: { w1, w2 }, updates: {}, schedules: {}, causes: [], runs: [], missing: [] },
  cluster: { name: 'test', server: 'in memory', kubernetes: 'v1.36.3', slipway: '0.1.0', demo: true },
  policy: {
    ...{ paused: false, epoch: 1, budgets: [], stores: [], window: { open: true, always: true } },
    calendar: { timeZone: 'UTC', windows: [], freezes: [], runs: [], always: true },
  },
}

function begun(): LiveState {
  const live = new LiveState()
  live.begin(state, nowMs)
  return live
}

test('a change replaces what it names, drops what is null, and leaves the rest as it was', () => {
  const live = begun()
  const next: NodeTile = { name: 'w2', phase: 'Working', ...place }
  live.apply({ at, nodes: { w2: next } }, nowMs)
  expect(live.look().state?.nodes).toEqual({ w1, w2: next })
  expect(live.look().state?.nodes.w1).toBe(w1)
  expect(live.look().state?.updates).toBe(state.updates)
  live.apply({ at, nodes: { w1: null } }, nowMs)
  expect(Object.keys(live.look().state?.nodes ?? {})).toEqual(['w2'])
})

test('trouble comes, stays through other changes, and goes', () => {
  const live = begun()
  const trouble = { since: at, message: 'gone', nextStep: 'wait', answers: false }
  live.apply({ at, trouble }, nowMs)
  live.apply({ at, causes: [] }, nowMs)
  expect(live.look().state?.trouble).toEqual(trouble)
  live.apply({ at, trouble: null }, nowMs)
  expect(live.look().state?.trouble).toBeUndefined()
})

test('the time is the server’s; what was lost keeps its state and its hour', () => {
  const live = begun()
  expect(live.look().skewMs).toBe(3_600_000)
  live.lose(nowMs + 1_000)
  expect(live.look()).toMatchObject({ link: 'lost', lostAt: Date.parse(at) + 1_000, state: { at } })
  live.begin(state, nowMs)
  expect(live.look()).toMatchObject({ link: 'live' })
  expect(live.look().lostAt).toBeUndefined()
})

test('readers are told, until they go', () => {
  const live = begun()
  let told = 0
  const leave = live.subscribe(() => {
    told += 1
  })
  live.hear(at, nowMs)
  leave()
  live.hear(at, nowMs)
  expect(told).toBe(1)
})
