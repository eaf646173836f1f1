import { describe, expect } from 'vitest'
import { holdAnnotation } from '../../src/api/hold.ts'
import { nodes } from '../../src/api/kube.ts'
import { maintenancePolicies } from '../../src/api/maintenance-policy.ts'
import type { NodeSpec } from '../../src/sim/sim-machine.ts'
import { scenario } from './story.ts'
import type { StoryCluster } from './story-cluster.ts'

const zone = 'topology.kubernetes.io/zone'
const version = 'v1.35.4'
const zoned: readonly NodeSpec[] = [
  { name: 'cp1', role: 'control-plane', version },
  ...['w1', 'w2', 'w3', 'w4'].map((name, index) => {
    return { name, role: 'worker' as const, version, zone: index < 2 ? 'eu-1a' : 'eu-1b' }
  }),
]
const workers = { nodeSelector: { matchExpressions: [{ key: zone, operator: 'Exists' as const }] } }

/** The nodes that held a slot together, each time the ledger was written. */
function together(cluster: StoryCluster): readonly (readonly string[])[] {
  const seen: string[][] = []
  cluster.sim.server.onCommit(({ kind }) => {
    if (kind === maintenancePolicies.kind) seen.push(cluster.ledger.grants.map(({ node }) => node).sort())
  })
  return seen
}

describe('a budget for each zone', () => {
  scenario('lets one node of each be away, and two of none', { nodes: zoned }, async ({ cluster, update, person }) => {
    await person.setsPolicy({ budgets: [{ per: zone, maxUnavailable: 1 }] })
    const seen = together(cluster)
    await update.script('true', { ...workers, strategy: { maxUnavailable: 4 } }).succeeds()
    const pairs = seen.filter((names) => names.length > 1).map((names) => names.join(' '))
    expect(pairs).not.toEqual([])
    expect(pairs.filter((pair) => pair === 'w1 w2' || pair === 'w3 w4' || pair.split(' ').length > 2)).toEqual([])
  })

  scenario('that a person uses up names who and where; the other zone goes on', { nodes: zoned }, async (story) => {
    const { cluster, update, person } = story
    await person.setsPolicy({ budgets: [{ per: zone, maxUnavailable: 1 }] })
    await person.labels('w2', { chosen: 'no' })
    await person.cordons('w2')
    const nodeSelector = {
      matchExpressions: [
        ...workers.nodeSelector.matchExpressions,
        { key: 'chosen', operator: 'DoesNotExist' as const },
      ],
    }
    const waiting = await update.script('true', { nodeSelector }).hasDone(2)
    await waiting.is('InProgress', 'BudgetAllowsNothing')
    expect(waiting.condition('Blocked')?.message).toBe(
      'nothing can start: zone eu-1a: 1 of 1 away: w2 (cordoned by a person); bring back what is away, or raise spec.budgets of MaintenancePolicy default',
    )
    expect(cluster.allRuns).toEqual({ cp1: 0, w1: 0, w2: 0, w3: 1, w4: 1 })
    await person.uncordons('w2')
    await waiting.succeeds()
  })
})

describe('what stages ahead', () => {
  const to = 'v1.35.3'
  const spread: readonly NodeSpec[] = [
    { name: 'cp1', role: 'control-plane', version: to },
    ...['w1', 'w2', 'w3', 'w4', 'w5', 'w6'].map((name, index) => {
      return { name, role: 'worker' as const, version: 'v1.34.8', zone: index < 3 ? 'eu-1a' : 'eu-1b' }
    }),
  ]
  const chosen = {
    nodeSelector: {
      matchExpressions: [
        ...workers.nodeSelector.matchExpressions,
        { key: 'chosen', operator: 'DoesNotExist' as const },
      ],
    },
  }

  scenario('leaves room for the zone that may go', { nodes: spread }, async ({ cluster, update, person }) => {
    await person.setsPolicy({ budgets: [{ per: zone, maxUnavailable: 1 }] })
    await person.labels('w3', { chosen: 'no' })
    await person.cordons('w3')
    const waiting = await update.kubernetes(to, chosen).hasDone(3)
    await waiting.is('InProgress', 'BudgetAllowsNothing')
    expect(waiting.condition('Blocked')?.message).toContain('zone eu-1a: 1 of 1 away: w3')
    expect(cluster.names.filter((name) => cluster.state(name)?.status?.rollout?.phase === 'Done')).toEqual([
      ...['w4', 'w5', 'w6'],
    ])
    await person.uncordons('w3')
    await waiting.succeeds()
  })

  scenario('leaves room beside nodes that a person holds', { nodes: spread }, async ({ update, person }) => {
    for (const name of ['w1', 'w4']) await person.annotates(nodes, name, { [holdAnnotation]: '{"by":"ana"}' })
    const waiting = await update.kubernetes(to, workers).hasDone(4)
    await waiting.is('InProgress', 'NodeOnHold')
    for (const name of ['w1', 'w4']) await person.annotates(nodes, name, { [holdAnnotation]: null })
    await waiting.succeeds()
  })
})

describe('a budget that a node that failed uses up', () => {
  scenario('calls for a person, and goes on when they have looked', { nodes: zoned }, async (story) => {
    const { cluster, update, person } = story
    await person.setsPolicy({ budgets: [{ maxUnavailable: 1 }] })
    cluster.failing.add('w1')
    const held = update.script('true', { ...workers, strategy: { maxFailures: 2, maxUnavailable: 4 } })
    await held.is('RequiresAttention', 'FailedNodesInTheWay')
    expect(held.condition('Stalled')?.message).toMatch(/w1 \(failed for update\/.*slipway why w1.*slipway release w1/)
    await cluster.pass(600_000)
    expect(cluster.ledger.grants.map(({ node }) => node)).toEqual(['w1'])
    cluster.failing.clear()
    await held.isRetried('again')
    await held.succeeds()
  })
})

describe('turns', () => {
  scenario('a small update does not wait behind a large one', { nodes: 8 }, async ({ cluster, update, person }) => {
    await person.setsPolicy({ budgets: [{ maxUnavailable: 1 }] })
    const last = cluster.names.at(-1) ?? ''
    await person.labels(last, { last: '' })
    const large = await update.script('true', { name: 'large' }).hasDone(2)
    const small = update.script('false', { name: 'small', nodeSelector: { matchLabels: { last: '' } } })
    await small.succeeds()
    expect(large.status.summary?.done).toBeLessThanOrEqual(5)
    await large.succeeds()
    expect(cluster.runs(last)).toBe(2)
  })
})
