import { describe, expect, it } from 'vitest'
import { leases } from '../../src/api/kube.ts'
import type { MaintenancePolicy } from '../../src/api/maintenance-policy.ts'
import type { SimProcess } from '../../src/sim/sim-process.ts'
import { operatorNamespace } from '../../src/sim/workloads.ts'
import { play, type Story, scenario } from './story.ts'
import type { StoryCluster } from './story-cluster.ts'

function holder(cluster: StoryCluster): string {
  const [lease] = cluster.sim.server.peekAll(leases, { namespace: operatorNamespace })
  return lease?.spec.holderIdentity ?? ''
}

function leader(cluster: StoryCluster): SimProcess {
  const identity = holder(cluster)
  const found = cluster.sim.programs().find(({ name }) => identity.startsWith(`${name.slice('operator/'.length)}_`))
  if (!found) throw new Error('nobody leads')
  return found
}

/** Who wrote the ledger, with the epoch each time. */
function ledgerWrites(cluster: StoryCluster): readonly { readonly client: string; readonly epoch: number }[] {
  const writes: { client: string; epoch: number }[] = []
  cluster.sim.server.onCommit(({ kind, after, client }) => {
    const epoch = kind === 'MaintenancePolicy' && (after as MaintenancePolicy | undefined)?.status?.ledger?.epoch
    if (epoch) writes.push({ client, epoch })
  })
  return writes
}

describe('a leader frozen for longer than its lease', () => {
  async function frozenAt(nth: number, { cluster, update, person }: Story): Promise<void> {
    // Nodes without an operator: a frozen one must be there when it wakes, not drained away.
    const chosen = cluster.names.filter(
      (name) => !cluster.sim.podsOn(name).some(({ metadata }) => metadata.namespace === operatorNamespace),
    )
    for (const name of chosen) await person.labels(name, { chosen: '' })
    const nodeSelector = { matchLabels: { chosen: '' } }
    const writes = ledgerWrites(cluster)
    const old = leader(cluster)
    const { epoch } = cluster.ledger
    let count = 0
    cluster.sim.server.onCommit(({ kind, client }) => {
      if (client === old.name && kind !== 'Lease' && ++count === nth) old.freeze(90_000)
    })
    await update.script('true', { nodeSelector, strategy: { maxUnavailable: 2 } }).succeeds()
    await cluster.pass(120_000)
    expect(count).toBeGreaterThanOrEqual(nth)
    expect(old.alive).toBe(true)
    expect(cluster.ledger.epoch).toBeGreaterThan(epoch)
    const taken = writes.findIndex(({ client }) => client !== old.name)
    expect(taken).toBeGreaterThanOrEqual(0)
    expect(writes.slice(taken).filter(({ client }) => client === old.name)).toEqual([])
    expect(writes.map((write) => write.epoch)).toEqual(writes.map((write) => write.epoch).sort((a, b) => a - b))
    for (const name of cluster.names) expect(cluster.runs(name)).toBe(chosen.includes(name) ? 1 : 0)
  }

  it('spends no slot of the new one, whichever write it was frozen at', async () => {
    for (let nth = 1; nth <= 16; nth++) {
      await play({ nodes: 5, operators: 2 }, async (story) => {
        await story.person.setsPolicy({ budgets: [{ maxUnavailable: 2 }] })
        await frozenAt(nth, story)
      })
    }
  })
})

describe('the policy', () => {
  scenario('paused: what is under way ends, nothing new starts; resumed, it goes on', { nodes: 4 }, async (story) => {
    const { cluster, update, person } = story
    const running = update.script('true')
    await cluster.nodeIs('w1', 'Working')
    await person.setsPolicy({ paused: true })
    await running.is('InProgress', 'PolicyPaused')
    await cluster.pass(600_000)
    expect(cluster.allRuns).toEqual({ cp1: 1, w1: 1, w2: 0, w3: 0 })
    expect(cluster.taken).toEqual([])
    expect(running.status.summary).toMatchObject({ done: 2, waiting: 2 })
    await person.setsPolicy({ paused: false })
    await running.succeeds()
    expect(cluster.allRuns).toEqual({ cp1: 1, w1: 1, w2: 1, w3: 1 })
  })

  scenario('replaced by deleting it first: what it forbids stays forbidden meanwhile', { nodes: 4 }, async (story) => {
    const { cluster, update, person } = story
    await person.setsPolicy({ paused: true })
    const running = await update.script('true').is('InProgress', 'PolicyPaused')
    await person.deletesPolicy()
    await cluster.pass(5_000)
    await person.setsPolicy({ paused: true })
    await cluster.pass(120_000)
    expect(cluster.ledger.grants).toEqual([])
    const old = holder(cluster)
    for (const process of cluster.sim.programs()) process.crash()
    await cluster.until('another one leads', () => ![old, ''].includes(holder(cluster)))
    await person.deletesPolicy()
    await cluster.pass(5_000)
    await person.setsPolicy({ paused: true })
    await cluster.pass(120_000)
    expect(cluster.ledger.grants).toEqual([])
    expect(cluster.allRuns).toEqual({ cp1: 0, w1: 0, w2: 0, w3: 0 })
    await running.is('InProgress', 'PolicyPaused')
    await person.setsPolicy({ paused: false })
    await running.succeeds()
  })

  scenario(
    'deleted half-way: made again with a higher epoch, what is under work stays booked',
    { nodes: 6 },
    async (story) => {
      const { cluster, update, person } = story
      await person.setsPolicy({ budgets: [{ maxUnavailable: 2 }] })
      const running = update.script('true', { strategy: { maxUnavailable: 3 } })
      await cluster.nodeIs('w1', 'Working')
      const { epoch, grants } = cluster.ledger
      expect(grants).toHaveLength(2)
      await person.deletesPolicy()
      await cluster.until('the ledger is there again', () => cluster.ledger.epoch > epoch)
      expect(cluster.ledger.grants.map(({ node }) => node)).toEqual(expect.arrayContaining(['w1']))
      await person.setsPolicy({ budgets: [{ maxUnavailable: 2 }] })
      await running.succeeds()
      expect(Object.values(cluster.allRuns)).toEqual([1, 1, 1, 1, 1, 1])
    },
  )

  scenario('deleted while no operator runs: the next one books what is under work', { nodes: 4 }, async (story) => {
    const { cluster, update, person } = story
    const running = update.script('true')
    await cluster.nodeIs('w1', 'Working')
    const { epoch } = cluster.ledger
    leader(cluster).crash()
    await person.deletesPolicy()
    await cluster.until('the ledger is there again', () => cluster.ledger.epoch > 0)
    expect(cluster.ledger.epoch).toBeGreaterThan(epoch)
    await cluster.until('w1 is booked', () => cluster.ledger.grants.some(({ node }) => node === 'w1'))
    await running.succeeds()
    expect(Object.values(cluster.allRuns)).toEqual([1, 1, 1, 1])
  })
})
