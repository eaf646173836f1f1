import { describe, expect } from 'vitest'
import { operatorNamespace } from '../../src/sim/workloads.ts'
import { able, ask, asRoot, files, finish, isLetIn, seen } from './maintenance-story.ts'
import { scenario } from './story.ts'
import type { Person } from './story-person.ts'
import { scriptOf } from './story-update.ts'

describe('an update that waits for weeks', () => {
  scenario('knows which nodes it has done, whatever they did since', able(3), async ({ cluster, update, person }) => {
    await person.setsPolicy({ maintenance: {} })
    const waves = [{ size: 1, promotion: 'Manual' as const }, { size: '100%' }]
    const running = await update.script('true', { strategy: { waves } }).is('InProgress', 'ApprovalWanted')
    expect(cluster.allRuns).toEqual({ cp1: 1, w1: 1, w2: 0 })
    const takenAgain = new Set<string>()
    cluster.sim.server.onCommit(() => {
      const { operationID } = running.status
      for (const { node, holder } of cluster.ledger.grants) if (holder === operationID) takenAgain.add(node)
    })
    for (let turn = 0; turn < 22; turn++) {
      await ask(cluster, 'w1')
      await isLetIn(cluster, 'w1')
      await finish(cluster, 'w1')
      await cluster.until('it is over', () => seen(cluster, 'w1') === undefined && cluster.ledger.grants.length === 0)
    }
    await cluster.pass(60_000)
    expect(takenAgain).toEqual(new Set())
    expect(running.status.summary).toMatchObject({ done: 2, waiting: 1 })
  })
})

describe('a reboot sentinel that outlives its reboot', () => {
  const sentinel = '/var/lib/reboot-wanted'

  scenario('asks for no other after an update has had the node', able(3), async ({ cluster, update, person }) => {
    await person.setsPolicy({ reboots: { sentinels: [sentinel] }, taintWhileWaiting: true })
    await cluster.until('watched', () => cluster.state('w1')?.status?.agent?.sentinels !== undefined)
    const bootID = () => cluster.node('w1')?.status?.nodeInfo?.bootID
    const before = bootID()
    await files(cluster, 'w1').write(sentinel, '', asRoot)
    await cluster.until('it has booted', () => bootID() !== before && cluster.ledger.grants.length === 0)
    const since = bootID()
    await update.script('true').succeeds()
    await person.setsPolicy({ maintenance: { jobs: [await job(person)] } })
    await cluster.until('the job is done', () => cluster.state('w1')?.status?.agent?.jobs?.length === 1)
    await cluster.until('its slots are back', () => cluster.ledger.grants.length === 0)
    await cluster.pass(60_000)
    expect(bootID()).toBe(since)
    expect(cluster.node('w1')?.spec.taints ?? []).toEqual([])
  })

  async function job(person: Person) {
    const text = 'true'
    await person.storesScript('tidy', operatorNamespace, text)
    const nodeSelector = { matchLabels: { 'kubernetes.io/hostname': 'w1' } }
    return { name: 'tidy', configMap: 'tidy', sha256: scriptOf(text).sha256, nodeSelector }
  }
})
