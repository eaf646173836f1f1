import { describe, expect, it } from 'vitest'
import type { Pod } from '../../src/api/kube.ts'
import type { Crash } from './crash-point.ts'
import { play, type Story, type StoryOptions } from './story.ts'
import { shop } from './story-person.ts'

const options: StoryOptions = { nodes: 3, operators: 1 }

/** On w1, under a budget that never lets one go. */
async function cannotLoseOne({ cluster, person }: Story): Promise<void> {
  await person.labels('w1', { pool: 'a' })
  await person.deploys({ name: 'web', replicas: 2, minAvailable: 2, pod: { nodeSelector: { pool: 'a' } } })
  await cluster.pass(15_000)
  expect(podsOf(cluster.sim.podsOn('w1'))).toHaveLength(2)
}

function podsOf(pods: readonly Pod[]): readonly Pod[] {
  return pods.filter(({ metadata }) => metadata.namespace === shop)
}

async function forced(story: Story): Promise<void> {
  const { cluster, update } = story
  await cannotLoseOne(story)
  const untold: string[] = []
  cluster.sim.server.onCommit(({ client, kind, before, after }) => {
    if (kind !== 'Pod' || !client.startsWith('operator/') || after?.metadata.namespace !== shop) return
    if (before?.metadata.deletionTimestamp !== undefined || after.metadata.deletionTimestamp === undefined) return
    const told = cluster.state('w1')?.status?.rollout?.drain?.pods ?? []
    const name = `${shop}/${after.metadata.name}`
    if (!told.some(({ pod, reason }) => pod === name && reason.code === 'PodForced')) untold.push(name)
  })
  await update.script('true', { drain: { timeout: '2m', onTimeout: 'Force' } }).succeeds()
  expect(untold, 'forced before it was told').toEqual([])
  expect(cluster.allRuns).toEqual({ cp1: 1, w1: 1, w2: 1 })
}

async function aborted(story: Story): Promise<void> {
  const { cluster, update } = story
  await cannotLoseOne(story)
  const strategy = { maxFailures: 1 }
  const running = await update.script('true', { strategy, drain: { timeout: '2m', onTimeout: 'Abort' } }).fails()
  await cluster.until('all is put back', () => cluster.taken.length === 0 && cluster.ledger.grants.length === 0)
  expect(cluster.allRuns).toEqual({ cp1: 1, w1: 0, w2: 1 })
  expect(podsOf(cluster.sim.podsOn('w1'))).toHaveLength(2)
  expect(cluster.state('w1')?.status?.rollout).toMatchObject({ phase: 'Failed', reason: { code: 'DrainAborted' } })
  await running.isDeleted()
  await running.isGone()
  await cluster.until('no mark is left', () => cluster.state('w1')?.status?.rollout === undefined)
}

async function atEachWrite(story: (story: Story) => Promise<void>): Promise<number> {
  let writes = 0
  await play(options, async (told) => {
    await story(told)
    writes = told.faults.count('operator', 'write')
  })
  for (let nth = 1; nth <= writes; nth++) {
    const crashes: readonly Crash[] = [
      { victim: 'operator', before: 'write', nth },
      { victim: 'operator', after: 'write', nth },
    ]
    for (const crash of crashes) await play({ ...options, crash }, story)
  }
  return writes
}

describe('the operator dies at each of its writes', () => {
  it('in a drain that is forced: nothing is forced that is not told, and all is done once', async () => {
    expect(await atEachWrite(forced)).toBeGreaterThan(20)
  })

  it('in a drain that is given up: the node is put back, and not taken again', async () => {
    expect(await atEachWrite(aborted)).toBeGreaterThan(20)
  })
})
