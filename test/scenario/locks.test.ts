import { describe, expect } from 'vitest'
import type { ForeignLock } from '../../src/api/foreign-lock.ts'
import { type DaemonSet, daemonSets } from '../../src/api/kube.ts'
import { KubeError } from '../../src/api/kube-error.ts'
import { maintenancePolicies } from '../../src/api/maintenance-policy.ts'
import type { NodeSpec } from '../../src/sim/sim-machine.ts'
import { type Story, scenario } from './story.ts'
import type { StoryCluster } from './story-cluster.ts'
import { shop } from './story-person.ts'

const annotation = 'weave.works/kured-node-lock'
const kured: ForeignLock = { type: 'Kured', daemonSet: { namespace: shop, name: 'kured' } }
const ref = { namespace: shop, name: 'kured' }

async function installKured({ person }: Story, lock?: string): Promise<void> {
  await person.deploys({ name: 'web', replicas: 2 })
  await person.creates<DaemonSet>(daemonSets, {
    metadata: { ...ref, annotations: lock === undefined ? {} : { [annotation]: lock } },
    spec: {
      selector: { matchLabels: { app: 'kured' } },
      template: { metadata: { labels: { app: 'kured' } }, spec: { containers: [{ name: 'kured', image: 'pretend' }] } },
    },
  })
}

const lockOf = (cluster: StoryCluster) => cluster.sim.server.peek(daemonSets, ref)?.metadata.annotations?.[annotation]
const ownerOf = (cluster: StoryCluster) => JSON.parse(lockOf(cluster) ?? '{}').nodeID
const ownersOf = (cluster: StoryCluster): readonly string[] =>
  (JSON.parse(lockOf(cluster) ?? '{}').locks ?? []).map(({ nodeID }: { readonly nodeID: string }) => nodeID)
const locked = (nodeID: string, TTL = 0) =>
  JSON.stringify({ nodeID, metadata: { unschedulable: false }, created: '2026-01-01T00:00:00Z', TTL })
const setLock = ({ person }: Story, text: string | null) =>
  person.changes(daemonSets, 'kured', { metadata: { annotations: { [annotation]: text } } })

const controlPlane: readonly NodeSpec[] = ['cp1', 'cp2', 'cp3'].map((name) => ({
  ...{ name, role: 'control-plane', version: 'v1.35.4' },
}))

/** Owners of the lock at each write of the ledger that held a slot. */
function ownersUnderWork(cluster: StoryCluster): ReadonlySet<string | undefined> {
  const owners = new Set<string | undefined>()
  cluster.sim.server.onCommit(({ kind }) => {
    if (kind === maintenancePolicies.kind && cluster.ledger.grants.length > 0) owners.add(ownerOf(cluster))
  })
  return owners
}

describe('the lock of kured', () => {
  scenario('is ours before the first node goes and until the last is back', { nodes: 4 }, async (story) => {
    const { cluster, update, person } = story
    await installKured(story)
    await person.setsPolicy({ locks: [kured] })
    const owners = ownersUnderWork(cluster)
    await update.script('true').succeeds()
    await cluster.until('the lock is given back', () => lockOf(cluster) === undefined, 60_000)
    expect([...owners]).toEqual(['slipway'])
  })

  scenario('that a stranger has keeps everything back, and says who', { nodes: 4 }, async (story) => {
    const { cluster, update, person } = story
    await installKured(story, locked('w3'))
    await person.setsPolicy({ locks: [kured] })
    const waiting = await update.script('true').is('InProgress', 'ForeignLockHeld')
    expect(waiting.condition('Blocked')?.message).toBe(
      'w3 holds annotation weave.works/kured-node-lock of DaemonSet shop/kured since 2026-01-01T00:00:00Z; it goes on when that is released',
    )
    await cluster.pass(600_000)
    expect(Object.values(cluster.allRuns)).toEqual([0, 0, 0, 0])
    expect(ownerOf(cluster)).toBe('w3')
    await setLock(story, null)
    await waiting.succeeds()
    await cluster.until('the lock is given back', () => lockOf(cluster) === undefined, 60_000)
  })

  scenario('whose time is over is taken without anybody writing', { nodes: 3 }, async (story) => {
    const { cluster, update, person } = story
    const created = new Date(cluster.sim.clock.now().getTime()).toISOString()
    await installKured(story, JSON.stringify({ nodeID: 'w1', created, TTL: 300e9 }))
    await person.setsPolicy({ locks: [kured] })
    const waiting = await update.script('true').is('InProgress', 'ForeignLockHeld')
    await waiting.succeeds()
    expect(cluster.sim.clock.now().getTime() - Date.parse(created)).toBeGreaterThan(300_000)
  })

  scenario('with two owners: their node is away, ours may go', { nodes: 4 }, async (story) => {
    const { cluster, update, person } = story
    const owners = (...nodes: readonly string[]) =>
      JSON.stringify({ maxOwners: 2, locks: nodes.map((node) => JSON.parse(locked(node))) })
    await installKured(story, owners('w3'))
    await person.setsPolicy({ locks: [{ ...kured, maxOwners: 2 }], budgets: [{ maxUnavailable: 1 }] })
    const waiting = await update.script('true').is('InProgress', 'BudgetSpent')
    expect(waiting.condition('Blocked')?.message).toBe('cluster: 1 of 1 away: w3 (locked by Kured shop/kured)')
    await person.setsPolicy({ locks: [{ ...kured, maxOwners: 2 }], budgets: [{ maxUnavailable: 2 }] })
    await cluster.nodeIs('w1', 'Working')
    expect(ownersOf(cluster)).toEqual(['w3', 'slipway'])
    await waiting.hasDone(3)
    await waiting.is('InProgress', 'ForeignLockHeld')
    await cluster.until('ours is given back', () => ownersOf(cluster).join() === 'w3', 60_000)
    expect(cluster.runs('w3')).toBe(0)
    await setLock(story, null)
    await waiting.succeeds()
  })

  scenario('with two owners: no second node of the control plane goes', { nodes: controlPlane }, async (story) => {
    const { cluster, update, person } = story
    const stranger = JSON.parse(locked('cp3'))
    await installKured(story, JSON.stringify({ maxOwners: 2, locks: [stranger] }))
    await person.setsPolicy({ locks: [{ ...kured, maxOwners: 2 }] })
    const waiting = await update.script('true').is('InProgress', 'ControlPlaneBusy')
    expect(waiting.condition('Blocked')?.message).toBe(
      'cp3 of the control plane is away; only one node of it may be at a time',
    )
    await cluster.pass(600_000)
    expect(cluster.taken).toEqual([])
    await setLock(story, null)
    await waiting.succeeds()
  })

  scenario('that a dead operator left is ours, and given back', { nodes: 3 }, async (story) => {
    const { cluster, update, person } = story
    await installKured(story, locked('slipway'))
    await person.setsPolicy({ locks: [kured] })
    await cluster.until('it is given back', () => lockOf(cluster) === undefined, 60_000)
    await update.script('true').succeeds()
  })

  scenario('that nobody can read keeps everything back', { nodes: 3 }, async (story) => {
    const { cluster, update, person } = story
    await installKured(story, 'mine!')
    await person.setsPolicy({ locks: [kured] })
    const waiting = await update.script('true').is('InProgress', 'ForeignLockUnknown')
    expect(lockOf(cluster)).toBe('mine!')
    await setLock(story, null)
    await waiting.succeeds()
  })

  scenario('that may not be written is taken once a person gives the right', { nodes: 3 }, async (story) => {
    const { cluster, update, person, faults } = story
    await installKured(story)
    await person.setsPolicy({ locks: [kured] })
    faults.refuse('patch', new KubeError('Forbidden', 'daemonsets "kured" is forbidden'), daemonSets)
    const waiting = await update.script('true').is('InProgress', 'ForeignLockUnknown')
    await cluster.pass(120_000)
    expect(waiting.condition('Blocked')?.reason).toBe('ForeignLockUnknown')
    expect(cluster.taken).toEqual([])
    faults.allow('patch')
    const owners = ownersUnderWork(cluster)
    await waiting.succeeds()
    expect([...owners]).toEqual(['slipway'])
    await cluster.until('the lock is given back', () => lockOf(cluster) === undefined, 60_000)
  })

  scenario('that cannot be given back keeps no update from going', { nodes: 3 }, async (story) => {
    const { cluster, update, person, faults } = story
    await installKured(story)
    await person.setsPolicy({ locks: [kured] })
    const running = update.script('true')
    await cluster.nodeIs('w1', 'Working')
    faults.refuse('patch', new KubeError('Timeout', 'no answer within 30 s'), daemonSets)
    await running.isDeleted()
    await cluster.until('the slot is back', () => cluster.ledger.grants.length === 0)
    await cluster.until('the update is gone', () => running.object === undefined, 5_000)
    expect(ownerOf(cluster)).toBe('slipway')
    faults.allow('patch')
    await cluster.until('the lock is given back', () => lockOf(cluster) === undefined, 60_000)
  })

  scenario('that cannot be given back keeps no control plane from being asked', { nodes: 4 }, async (story) => {
    const { cluster, update, person, faults } = story
    await installKured(story, locked('slipway'))
    faults.refuse('patch', new KubeError('ServerError', 'failed calling webhook', { status: 500 }), daemonSets)
    await person.setsPolicy({ locks: [kured] })
    await cluster.pass(60_000)
    const running = update.script('true')
    await cluster.nodeIs('cp1', 'Working')
    faults.allow('patch')
    await running.succeeds()
    await cluster.until('the lock is given back', () => lockOf(cluster) === undefined, 60_000)
  })

  scenario(
    'that the policy names no more and that cannot be given back holds up nothing',
    { nodes: 4 },
    async (story) => {
      const { cluster, update, person, faults } = story
      await installKured(story)
      await person.setsPolicy({ locks: [kured] })
      const running = update.script('true')
      await cluster.nodeIs('w1', 'Working')
      faults.refuse('patch', new KubeError('ServerError', 'failed calling webhook', { status: 500 }), daemonSets)
      await person.setsPolicy({ locks: [] })
      await running.succeeds()
      expect(ownerOf(cluster)).toBe('slipway')
      faults.allow('patch')
      await cluster.until('the lock is given back', () => lockOf(cluster) === undefined, 60_000)
    },
  )

  scenario('whose terms a person edits under work is held on', { nodes: 4 }, async (story) => {
    const { cluster, update, person } = story
    await installKured(story)
    await person.setsPolicy({ locks: [kured] })
    const running = update.script('true')
    await cluster.nodeIs('w1', 'Working')
    const seen = new Set<boolean>()
    cluster.sim.server.onCommit(() => {
      if (cluster.ledger.grants.length > 0) seen.add(lockOf(cluster)?.includes('slipway') === true)
    })
    await person.setsPolicy({ locks: [{ ...kured, annotation, maxOwners: 2 }] })
    await cluster.until('its form is the new one', () => ownersOf(cluster).join() === 'slipway', 10_000)
    await running.succeeds()
    await cluster.until('the lock is given back', () => lockOf(cluster) === undefined, 60_000)
    expect([...seen]).toEqual([true])
  })

  scenario('that the policy names no more is given back under work', { nodes: 4 }, async (story) => {
    const { cluster, update, person } = story
    await installKured(story)
    await person.setsPolicy({ locks: [kured] })
    const running = update.script('true')
    await cluster.nodeIs('w1', 'Working')
    expect(ownerOf(cluster)).toBe('slipway')
    await person.changes(maintenancePolicies, 'default', { spec: { locks: null } })
    await cluster.until('it is given back', () => lockOf(cluster) === undefined, 60_000)
    await running.succeeds()
  })
})
