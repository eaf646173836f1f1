import { describe, expect } from 'vitest'
import { deployments, podDisruptionBudgets, pods } from '../../src/api/kube.ts'
import { KubeError } from '../../src/api/kube-error.ts'
import { scenario } from './story.ts'
import { shop } from './story-person.ts'

describe('a drain', () => {
  scenario('held up by a PodDisruptionBudget names it, and goes on when it allows', { nodes: 3 }, async (story) => {
    const { cluster, update, person } = story
    await person.deploys({ name: 'web', replicas: 2, minAvailable: 2 })
    await cluster.pass(10_000)
    const running = update.script('true')
    const { reason, drain } = await cluster.nodeIs('w1', 'Draining', 'PodDisruptionBudget')
    expect(reason?.message).toMatch(/PodDisruptionBudget shop\/web \(0 disruptions allowed; 2 of 2 needed pods/)
    expect(drain?.pods[0]?.pod).toMatch(/^shop\/web-/)
    await cluster.pass(600_000)
    expect(cluster.runs('w1')).toBe(0)
    expect(cluster.told('Node', 'w1')).toEqual(['NodeTaken', 'PodDisruptionBudget'])
    await person.changes(deployments, 'web', { spec: { replicas: 3 } })
    await cluster.until('w1 is worked on', () => cluster.runs('w1') > 0, 30_000)
    await running.succeeds()
  })

  scenario('that takes longer than it may says so, and still goes on later', { nodes: 3 }, async (story) => {
    const { cluster, update, person } = story
    await person.deploys({ name: 'web', replicas: 2, minAvailable: 2 })
    await cluster.pass(10_000)
    const running = update.script('true', { drain: { timeout: '2m' } })
    const { reason } = await cluster.nodeIs('w1', 'Draining', 'DrainTimedOut')
    expect(reason?.message).toContain('PodDisruptionBudget shop/web')
    await person.changes(deployments, 'web', { spec: { replicas: 3 } })
    await running.succeeds()
  })

  scenario(
    'whose eviction is refused says so on each node, also when nothing else happens',
    { nodes: 4 },
    async (story) => {
      const { cluster, update, person, faults } = story
      await person.deploys({ name: 'web', replicas: 3, maxUnavailable: 1 })
      await cluster.pass(15_000)
      faults.refuse('evict', new KubeError('Forbidden', 'admission webhook "guard" denied the request'))
      const nodeSelector = {
        matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In' as const, values: ['w1', 'w2'] }],
      }
      update.script('true', { nodeSelector, strategy: { maxUnavailable: 2 } })
      await cluster.nodeIs('w1', 'Draining', 'PodEvictionRefused')
      await cluster.nodeIs('w2', 'Draining', 'PodEvictionRefused')
    },
  )

  scenario('of a pod under two budgets names both, and goes on when one is gone', { nodes: 3 }, async (story) => {
    const { cluster, update, person } = story
    await person.deploys({ name: 'web', replicas: 2, maxUnavailable: 1 })
    await person.createsBudget('spare', { maxUnavailable: 1, selector: { matchLabels: { app: 'web' } } })
    await cluster.pass(10_000)
    const running = update.script('true')
    const { reason } = await cluster.nodeIs('w1', 'Draining', 'PodUnderTwoBudgets')
    expect(reason?.message).toMatch(/shop\/spare/)
    expect(reason?.message).toMatch(/PodDisruptionBudget shop\/web/)
    await cluster.pass(600_000)
    expect(cluster.runs('w1')).toBe(0)
    await person.deletes(podDisruptionBudgets, { name: 'spare', namespace: shop })
    await running.succeeds()
  })

  scenario(
    'waits for a pod nothing would make again, and goes on when a person removes it',
    { nodes: 3 },
    async (story) => {
      const { cluster, update, person } = story
      await person.createsPod('lonely', 'w1')
      await cluster.pass(10_000)
      const running = update.script('true')
      const { reason } = await cluster.nodeIs('w1', 'Draining', 'PodUnmanaged')
      expect(reason?.message).toContain('shop/lonely has no controller')
      await cluster.pass(600_000)
      expect(cluster.runs('w1')).toBe(0)
      await person.deletes(pods, { name: 'lonely', namespace: shop })
      await running.succeeds()
    },
  )

  scenario('evicts such a pod where the update says so', { nodes: 3 }, async ({ cluster, update, person }) => {
    await person.createsPod('lonely', 'w1')
    await cluster.pass(10_000)
    await update.script('true', { drain: { unmanagedPods: 'Delete' } }).succeeds()
    expect(cluster.sim.podsOn('w1').map(({ metadata }) => metadata.name)).not.toContain('lonely')
  })
})
