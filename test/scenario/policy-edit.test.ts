import { describe, expect } from 'vitest'
import { scenario } from './story.ts'

const only = { matchLabels: { 'kubernetes.io/hostname': 'w1' } }

describe('an edit of the policy', () => {
  scenario('lets a drain go on at once that hung by it', { nodes: 4 }, async ({ cluster, update, person }) => {
    await person.createsPod('lonely', 'w1')
    const held = update.script('true', { nodeSelector: only, drain: { timeout: '2m' } })
    await cluster.nodeIs('w1', 'Draining', 'PodUnmanaged')
    await cluster.pass(310_000)
    expect(cluster.runs('w1')).toBe(0)
    await person.setsPolicy({ drain: { unmanagedPods: 'Delete' } })
    await cluster.until('w1 has its order', () => cluster.state('w1')?.spec.order?.desired === 'Run', 15_000)
    await held.succeeds()
  })
})
