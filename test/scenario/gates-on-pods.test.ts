import { describe, expect } from 'vitest'
import type { GateSpec } from '../../src/api/gate.ts'
import { scenario } from './story.ts'
import { shop } from './story-person.ts'

const selector = { matchLabels: { app: 'web' } }
const ready: GateSpec = { type: 'PodsReady', namespace: shop, selector }
const cel = (expression: string): GateSpec => ({
  ...{ name: 'images', type: 'Cel', timeout: '1m', expression },
  object: { apiVersion: 'v1', resource: 'pods', namespace: shop, selector },
})
const holds = cel("objects.size() > 0 && objects.all(p, p.spec.containers.exists(c, c.image == 'pretend'))")
const fails = cel("!objects.exists(p, p.spec.containers.exists(c, c.image == 'pretend'))")

describe.each<[string, readonly GateSpec[], readonly GateSpec[]]>([
  ['alone', [], []],
  ['after a gate that needs less of the same pods', [ready], []],
  ['before a gate that needs less of the same pods', [], [ready]],
])('an expression about pods, %s', (_name, before, after) => {
  scenario('that is true lets the update go on', { nodes: 3 }, async ({ cluster, update, person }) => {
    await person.deploys({ name: 'web', replicas: 2 })
    await cluster.pass(10_000)
    await update.script('true', { gates: [...before, holds, ...after] }).succeeds()
  })

  scenario('that is false keeps every node untouched', { nodes: 3 }, async ({ cluster, update, person }) => {
    await person.deploys({ name: 'web', replicas: 2 })
    await cluster.pass(10_000)
    const held = await update
      .script('true', { gates: [...before, fails, ...after] })
      .is('RequiresAttention', 'GateFailed')
    expect(held.condition('Blocked')?.message).toContain('gate images: ')
    expect(held.condition('Blocked')?.message).toContain('is false')
    expect(cluster.allRuns).toEqual({ cp1: 0, w1: 0, w2: 0 })
  })
})
