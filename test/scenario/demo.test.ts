// `slipway demo` is the first thing a person sees: its story must come to its good end.

import { expect, it } from 'vitest'
import { demoRole } from '../../src/main/roles/demo-role.ts'
import { ManualClock } from '../fakes/manual-clock.ts'

it.each([
  { nodes: 3, seed: 2 },
  { nodes: 12, seed: 1 },
  { nodes: 12, seed: 9 },
])('the demo with $nodes nodes and seed $seed has its troubles and succeeds', async ({ nodes, seed }) => {
  const notes: string[] = []
  const sink = { show: () => undefined, end: () => undefined, note: (_: Date, text: string) => void notes.push(text) }
  const deps = { clock: new ManualClock(), version: '0.0.0' }
  const options = { nodes, seed, speed: Number.POSITIVE_INFINITY }
  const figures = await demoRole(deps, options, sink, new AbortController().signal)
  expect(figures).toMatchObject({ phase: 'Succeeded', nodes, violations: [] })
  expect(notes.toSorted()).toEqual([
    expect.stringMatching(/^a person gives .* allows a disruption$/),
    expect.stringMatching(/^a person takes .* allows no disruption$/),
    expect.stringMatching(/^operator.* is killed/),
    expect.stringMatching(/^w\d+ loses power/),
  ])
})
