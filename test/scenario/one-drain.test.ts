import { describe, expect } from 'vitest'
import { type Node, nodes } from '../../src/api/kube.ts'
import { operatorNamespace } from '../../src/sim/workloads.ts'
import { able, ask, asRoot, files, finish, isLetIn, seen } from './maintenance-story.ts'
import { scenario } from './story.ts'
import type { StoryCluster } from './story-cluster.ts'
import { scriptOf } from './story-update.ts'

/** How often each node was cordoned. */
function cordons(cluster: StoryCluster): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  cluster.sim.server.onCommit(({ kind, before, after }) => {
    if (kind !== nodes.kind || !after) return
    const was = (before as Node | undefined)?.spec.unschedulable === true
    const { name } = after.metadata
    if (!was && (after as Node).spec.unschedulable) counts.set(name, (counts.get(name) ?? 0) + 1)
  })
  return counts
}

const onW1 = { nodeSelector: { matchLabels: { 'kubernetes.io/hostname': 'w1' } } }

async function watched(cluster: StoryCluster): Promise<void> {
  await cluster.until('the host is watched', () => cluster.state('w1')?.status?.agent?.sentinels !== undefined)
}

describe('one drain for all that waits for a node', () => {
  scenario('an update, then its maintenance', able(3), async ({ cluster, update, person }) => {
    await person.setsPolicy({ maintenance: {} })
    await watched(cluster)
    const counts = cordons(cluster)
    const running = update.script('true', onW1)
    await cluster.nodeIs('w1', 'Working')
    await ask(cluster, 'w1')
    await cluster.until('w1 is seen', () => seen(cluster, 'w1') !== undefined)
    await isLetIn(cluster, 'w1')
    await running.succeeds()
    expect(cluster.taken).toEqual(['w1'])
    expect(cluster.ledger.grants.map(({ holder }) => holder.split('/')[0])).toEqual(['maintenance:w1'])
    await finish(cluster, 'w1')
    await cluster.until('w1 is back', () => !cluster.isCordoned('w1') && cluster.ledger.grants.length === 0)
    expect([...counts]).toEqual([['w1', 1]])
    expect(cluster.runs('w1')).toBe(1)
  })

  scenario('maintenance, then an update', able(3), async ({ cluster, update, person }) => {
    await person.setsPolicy({ maintenance: {} })
    await watched(cluster)
    const counts = cordons(cluster)
    await ask(cluster, 'w1')
    await isLetIn(cluster, 'w1')
    const running = await update.script('true', onW1).is('InProgress', 'NodeHeldElsewhere')
    await finish(cluster, 'w1')
    await running.succeeds()
    expect([...counts]).toEqual([['w1', 1]])
    expect(cluster.isCordoned('w1')).toBe(false)
    expect(cluster.runs('w1')).toBe(1)
  })

  scenario('a job that asks for a reboot by a sentinel of its own, then the boot', able(2), async (story) => {
    const { cluster, person } = story
    const sentinel = '/etc/reboot-wanted'
    const bootID = () => cluster.state('w1')?.status?.agent?.bootID
    const hasRun = () => cluster.machine('w1').host.executions.some(({ step }) => step === 'job-mark')
    const { configMap, sha256 } = scriptOf('touch the sentinel')
    await cluster.until('the namespace is there', () => cluster.ledger.epoch > 0)
    await person.storesScript(configMap, operatorNamespace, 'touch the sentinel')
    await person.setsPolicy({ reboots: { sentinels: [sentinel] } })
    await watched(cluster)
    const first = bootID()
    const counts = cordons(cluster)
    const boots = new Set([first])
    cluster.sim.server.onCommit(() => boots.add(bootID()))
    const jobs = [{ name: 'mark', configMap, sha256, ...onW1 }]
    await person.setsPolicy({ reboots: { sentinels: [sentinel] }, maintenance: { jobs } })
    await cluster.until('the job runs', hasRun)
    await files(cluster, 'w1').write(sentinel, '', asRoot)
    await cluster.nodeIs('w1', 'Done')
    await cluster.pass(3_600_000)
    expect(cluster.isCordoned('w1')).toBe(false)
    expect([...counts]).toEqual([['w1', 1]])
    expect(boots.size).toBe(2)
  })

  scenario('two updates of the same nodes', { nodes: 4 }, async ({ cluster, update, person }) => {
    await person.setsPolicy({ budgets: [{ maxUnavailable: 1 }] })
    const counts = cordons(cluster)
    const controlPlane = 'node-role.kubernetes.io/control-plane'
    const workers = { nodeSelector: { matchExpressions: [{ key: controlPlane, operator: 'DoesNotExist' as const }] } }
    const first = update.script('true', { name: 'first', ...workers })
    const second = update.script('exit 0', { name: 'second', ...workers })
    await first.succeeds()
    await second.succeeds()
    expect(cluster.allRuns).toEqual({ cp1: 0, w1: 2, w2: 2, w3: 2 })
    expect(Object.fromEntries(counts)).toEqual({ w1: 1, w2: 1, w3: 1 })
  })

  scenario('a failed node is not handed over', able(3), async ({ cluster, update, person }) => {
    await person.setsPolicy({ maintenance: {} })
    await watched(cluster)
    cluster.failing.add('w1')
    const running = update.script('true', onW1)
    await cluster.nodeIs('w1', 'Working')
    await ask(cluster, 'w1')
    await running.fails()
    await cluster.pass(600_000)
    expect(cluster.ledger.grants.map(({ holder }) => holder.split('/')[0])).toEqual(['update'])
    expect(cluster.state('w1')?.status?.agent?.sentinels?.maintenanceInProgress).toBeUndefined()
  })
})
