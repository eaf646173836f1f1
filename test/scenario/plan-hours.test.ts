// A plan knows windows and freezes: when it starts, how far it comes in each window, when it ends. And so it then goes.

import { describe, expect } from 'vitest'
import { planText } from '../../src/cli/plan-text.ts'
import { planOf, rehearsed, snapshotOf } from './planned.ts'
import { scenario } from './story.ts'
import { oneAnd } from './story-nodes.ts'
import { scriptOf } from './story-update.ts'

const script = scriptOf('true')
const day = 86_400_000

describe('a plan under windows', () => {
  scenario('says when it starts and ends, and names the freeze it has to wait for', { nodes: 4 }, async (story) => {
    await story.person.setsPolicy({
      windows: [{ start: '22:00', end: '04:00' }],
      freezes: [{ from: '2026-01-05', to: '2026-01-07', reason: 'stock taking' }],
    })
    const plan = await planOf(story, { script })
    expect(plan).toMatchObject({
      verdict: 'clear',
      nodes: 4,
      schedule: { starts: '2026-01-08T00:00:00Z', sittings: [{ nodes: 4, done: 4, closes: '2026-01-08T04:00:00Z' }] },
    })
    expect(plan.schedule?.ends.slice(0, 13)).toBe('2026-01-08T00')
    expect(planText(plan, false)).toContain(
      'by its windows it starts 2026-01-08 00:00 UTC and ends about 2026-01-08 00:',
    )
  })

  scenario('foretells the progress that is then made over several of them', { nodes: oneAnd(20) }, async (story) => {
    const { cluster, person, update } = story
    // What was measured once is what the plan is made with.
    await update.script('echo before', { name: 'before' }).succeeds()
    await person.setsPolicy({ windows: [{ start: '12:00', end: '12:01' }] })
    const plan = await planOf(story, { script })
    const foretold = plan.schedule?.sittings ?? []
    expect(foretold.length).toBeGreaterThan(2)
    expect(foretold.at(-1)?.done).toBe(21)
    const taken = new Map<string, string>()
    cluster.sim.server.onCommit(() => {
      for (const { node } of cluster.ledger.grants) {
        if (!taken.has(node)) taken.set(node, cluster.sim.clock.now().toISOString().slice(0, 10))
      }
    })
    const running = update.script('true')
    await cluster.until('it is done', () => running.status.phase === 'Succeeded', 20 * day)
    const days = Map.groupBy(taken.values(), (one) => one).size
    expect(Math.abs(days - foretold.length), `${days} days, ${foretold.length} foretold`).toBeLessThanOrEqual(1)
    expect([...taken.values()].toSorted()[0]).toBe(foretold[0]?.from.slice(0, 10))
  })

  scenario('is blocked where no window ever opens for it', { nodes: 3 }, async (story) => {
    await story.person.setsPolicy({ windows: [{ start: '09:00', end: '10:00', work: ['Reboot'] }] })
    const plan = await planOf(story, { script })
    expect(plan).toMatchObject({
      verdict: 'blocked',
      blockers: [{ certainty: 'certain', code: 'WindowNeverOpens' }],
    })
    expect(plan.schedule).toBeUndefined()
  })

  scenario('of a large cluster counts the nodes that were not rehearsed, too', { nodes: 10 }, async (story) => {
    await story.person.setsPolicy({ windows: [{ start: '09:00', end: '09:04' }] })
    const snapshot = await snapshotOf(story)
    const whole = await rehearsed(snapshot, { script }, { rehearsals: 1 })
    const part = await rehearsed(snapshot, { script }, { rehearsals: 1, nodesAtMost: 4 })
    expect(part.alike).toBeGreaterThan(3)
    expect(part.schedule?.sittings.at(-1)?.done).toBe(10)
    const windows = (plan: typeof whole) => plan.schedule?.sittings.length ?? 0
    expect(windows(whole)).toBeGreaterThan(2)
    expect(Math.abs(windows(whole) - windows(part))).toBeLessThanOrEqual(1)
  })
})
