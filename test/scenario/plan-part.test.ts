// A plan that rehearses some of the nodes says of the whole what a rehearsal of all of them would.

import { describe, expect } from 'vitest'
import type { DirectUpdateSpec } from '../../src/api/direct-update.ts'
import type { PlanReport } from '../../src/core/plan/plan-report.ts'
import { offerOf } from '../../src/core/versions/offers.ts'
import type { NodeSpec } from '../../src/sim/sim-machine.ts'
import { rehearsed, snapshotOf } from './planned.ts'
import { type Story, scenario } from './story.ts'
import { oneAnd } from './story-nodes.ts'
import { scriptOf } from './story-update.ts'

const script = scriptOf('true')

async function plansOf(story: Story, spec: DirectUpdateSpec, nodesAtMost: number) {
  const snapshot = await snapshotOf(story)
  return {
    all: await rehearsed(snapshot, spec, { rehearsals: 2 }),
    some: await rehearsed(snapshot, spec, { rehearsals: 2, nodesAtMost }),
  }
}

const names = ({ waves }: PlanReport) => waves.map(({ nodes }) => nodes.map(({ name }) => name))

describe('a plan that rehearses a part', () => {
  scenario('has the same order, waves and duration', { nodes: 12 }, async (story) => {
    await story.person.deploys({ name: 'web', replicas: 8, maxUnavailable: 2 })
    await story.cluster.pass(20_000)
    const strategy = { maxUnavailable: 2, waves: [{ size: 1, soak: '10m' }, { size: '50%' }, { size: '100%' }] }
    const { all, some } = await plansOf(story, { script, strategy }, 6)
    expect(some.alike).toBeGreaterThan(3)
    expect(all.alike).toBe(0)
    expect(names(some)).toEqual(names(all))
    expect(some.nodes).toBe(12)
    const ratio = some.durationSeconds.expected / all.durationSeconds.expected
    expect(ratio).toBeGreaterThan(0.8)
    expect(ratio).toBeLessThan(1.25)
  })

  scenario('finds what is certain on nodes it did not rehearse', { nodes: 8 }, async (story) => {
    await story.person.createsPod('lonely', 'w5')
    await story.cluster.pass(20_000)
    const { all, some } = await plansOf(story, { script }, 3)
    expect(some.blockers).toMatchObject([{ certainty: 'certain', cause: 'Pod shop/lonely', nodes: ['w5'] }])
    expect(some.verdict).toBe(all.verdict)
  })

  const threeLeaders: readonly NodeSpec[] = [
    ...['cp2', 'cp3'].map((name) => ({ name, role: 'control-plane' as const, version: 'v1.35.4' })),
    ...oneAnd(6),
  ]
  scenario('takes first what is to come first', { nodes: threeLeaders }, async (story) => {
    const strategy = { first: ['w5', 'cp3', 'cp2'] }
    const { all, some } = await plansOf(story, { script, strategy }, 5)
    expect(names(some)).toEqual(names(all))
    expect(names(some)).toEqual([
      ['cp3', 'cp2', 'cp1'],
      ['w5', 'w1', 'w2', 'w3', 'w4', 'w6'],
    ])
  })

  const ownMinor = { nodes: 8, versionsOnOffer: ['v1.35.4', 'v1.35.6'] }
  scenario('goes the way that others know of', ownMinor, async (story) => {
    const snapshot = await snapshotOf(story)
    const offers = { lists: [offerOf('ConfigMap', ['v1.36.5'])], silent: [] }
    const far = await rehearsed(snapshot, { kubernetes: { version: 'v1.37.2' } }, { nodesAtMost: 3, offers })
    expect(far).toMatchObject({ verdict: 'clear', nodes: 8, path: { steps: ['v1.36.5', 'v1.37.2'] } })
    const unknown = await rehearsed(snapshot, { kubernetes: { version: 'v1.38.0' } }, { nodesAtMost: 3, offers })
    expect(unknown).toMatchObject({ verdict: 'possiblyBlocked', blockers: [{ code: 'VersionSkipsMinor' }] })
  })

  scenario('is refused where the whole would be', { nodes: 8 }, async (story) => {
    const { some } = await plansOf(story, { kubernetes: { version: 'v1.34.0' } }, 3)
    expect(some).toMatchObject({ verdict: 'blocked', nodes: 0, blockers: [{ code: 'Downgrade' }] })
  })
})
