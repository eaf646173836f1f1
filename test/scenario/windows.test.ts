import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { configMaps, podDisruptionBudgets, pods } from '../../src/api/kube.ts'
import { KubeError } from '../../src/api/kube-error.ts'
import { maintenancePolicies, policyName } from '../../src/api/maintenance-policy.ts'
import type { WindowSpec } from '../../src/api/window.ts'
import type { Disk } from '../../src/ports/disk.ts'
import { operatorNamespace } from '../../src/sim/workloads.ts'
import { able, ask, asRoot, files, finish, isLetIn } from './maintenance-story.ts'
import { play, type Story, scenario } from './story.ts'
import type { StoryCluster } from './story-cluster.ts'
import { oneAnd } from './story-nodes.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

/** Stories begin on a Monday at 08:00 in UTC. */
const atNine: WindowSpec = { start: '09:00', end: '10:00' }
const briefly: WindowSpec = { start: '09:00', end: '09:01' }

const clockOf = ({ sim }: StoryCluster) => sim.clock.now().toISOString().slice(8, 16)

async function sleepUntil(cluster: StoryCluster, text: string): Promise<void> {
  await cluster.pass(Date.parse(`2026-01-${text}:00Z`) - cluster.sim.clock.nowMs())
}

const script = 'true\n'
const job = {
  name: 'rotate',
  url: 'http://jobs.example/rotate',
  sha256: createHash('sha256').update(script).digest('hex'),
}

/** When each node was taken. */
function takenAt(cluster: StoryCluster): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  cluster.sim.server.onCommit(() => {
    for (const { node } of cluster.ledger.grants) if (!found.has(node)) found.set(node, clockOf(cluster))
  })
  return found
}

/** When each node was done. */
function doneAt(cluster: StoryCluster): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  cluster.sim.server.onCommit(() => {
    for (const name of cluster.names) {
      const { phase, finishedAt } = cluster.state(name)?.status?.rollout ?? {}
      if (phase === 'Done' && finishedAt !== undefined) found.set(name, finishedAt.slice(8, 19))
    }
  })
  return found
}

/** All but the first were done before the clock showed this: how long one takes was not known before. */
function expectDoneBy(time: string, done: ReadonlyMap<string, string>, count: number): void {
  const [first, ...others] = [...done].toSorted(([, a], [, b]) => a.localeCompare(b))
  expect(first).toBeDefined()
  expect(others).toHaveLength(count - 1)
  expect(others.filter(([, at]) => at.slice(3) > time)).toEqual([])
}

describe('windows', () => {
  scenario('nothing starts before the window opens', { nodes: 3 }, async ({ cluster, update, person }) => {
    await person.setsPolicy({ windows: [atNine] })
    const taken = takenAt(cluster)
    const running = await update.script('true').is('InProgress', 'OutsideWindow')
    expect(running.condition('Blocked')?.message).toContain('the next opens at 2026-01-05T09:00:00Z')
    await sleepUntil(cluster, '05T08:59')
    expect(taken.size).toBe(0)
    await cluster.pass(2 * minute)
    await running.succeeds()
    expect([...taken.values()].every((at) => at === '05T09:00' || at === '05T09:01')).toBe(true)
  })

  scenario('what would not be done before it closes is not begun', { nodes: oneAnd(8) }, async (story) => {
    const { cluster, update, person } = story
    await person.setsPolicy({ windows: [briefly] })
    const taken = takenAt(cluster)
    const done = doneAt(cluster)
    const running = update.script('true')
    await sleepUntil(cluster, '05T09:05')
    const first = taken.size
    expect(first).toBeGreaterThan(0)
    expect(first).toBeLessThan(9)
    expect(running.status.summary).toMatchObject({ done: first, working: 0 })
    await running.is('InProgress', 'OutsideWindow')
    await cluster.until('it is done', () => running.status.phase === 'Succeeded', 9 * day)
    expect([...taken.values()].every((at) => at.endsWith('T09:00'))).toBe(true)
    expectDoneBy('09:01:00', done, 9)
  })

  it.each([38, 40, 42])(
    'a leader after a crash at second %i of a window of a minute knows how long nodes take',
    async (seconds) => {
      await play({ nodes: oneAnd(11), operators: 2 }, async ({ cluster, update, person }) => {
        await person.setsPolicy({ windows: [briefly] })
        const done = doneAt(cluster)
        const running = update.script('true')
        await sleepUntil(cluster, '05T09:00')
        await cluster.pass(seconds * 1000)
        for (const process of cluster.sim.programs()) process.crash()
        await cluster.until('it is done', () => running.status.phase === 'Succeeded', 9 * day)
        expectDoneBy('09:01:00', done, 12)
      })
    },
  )

  scenario('the operator dies before, in and after a window', { nodes: oneAnd(5), operators: 2 }, async (story) => {
    const { cluster, update, person } = story
    await person.setsPolicy({ windows: [briefly] })
    const taken = takenAt(cluster)
    const done = doneAt(cluster)
    const running = update.script('true')
    for (const at of ['05T08:30', '05T09:00', '05T09:10', '06T08:59']) {
      await sleepUntil(cluster, at)
      for (const process of cluster.sim.programs()) process.crash()
    }
    await cluster.until('it is done', () => running.status.phase === 'Succeeded', 9 * day)
    expect([...taken.values()].every((at) => at.endsWith('T09:00'))).toBe(true)
    expectDoneBy('09:01:00', done, 6)
  })

  scenario('an update may be narrower than the policy, never wider', { nodes: 2 }, async (story) => {
    const { cluster, update, person } = story
    await person.setsPolicy({ windows: [atNine] })
    const windows: readonly WindowSpec[] = [
      { start: '08:00', end: '08:30' },
      { start: '09:45', end: '11:00' },
    ]
    const taken = takenAt(cluster)
    const running = await update.script('true', { windows: [...windows] }).is('InProgress', 'OutsideWindow')
    expect(running.condition('Blocked')?.message).toContain('2026-01-05T09:45:00Z')
    await sleepUntil(cluster, '05T09:46')
    await running.succeeds()
    expect(new Set(taken.values())).toEqual(new Set(['05T09:45']))
  })

  scenario('a freeze holds all, and says why; a person may go on', { nodes: 2 }, async (story) => {
    const { cluster, update, person } = story
    await person.setsPolicy({ freezes: [{ from: '2026-01-01', to: '2026-01-06', reason: 'stocktaking' }] })
    const running = await update.script('true').is('InProgress', 'Frozen')
    expect(running.condition('Blocked')?.message).toContain('frozen until 2026-01-07T00:00:00Z: stocktaking')
    await cluster.pass(3 * hour)
    expect(cluster.taken).toEqual([])
    const { operationID = '' } = running.status
    const at = '2026-01-05T11:00:00Z'
    await running.isEdited({ runNow: { operationID: 'another/run', reason: 'CVE', by: 'ana', at } })
    await cluster.pass(10 * minute)
    expect(cluster.taken).toEqual([])
    await running.isEdited({ runNow: { operationID, reason: 'CVE', by: 'ana', at } })
    await running.succeeds()
    expect(cluster.told('DirectUpdate', 'update')).toContain('RunNow')
  })

  scenario('a freeze that is put on stops what has not begun', { nodes: oneAnd(6) }, async (story) => {
    const { cluster, update, person } = story
    const running = await update.script('true').starts()
    await person.setsPolicy({ freezes: [{ from: '2026-01-05', to: '2026-01-05', reason: 'incident' }] })
    await running.is('InProgress', 'Frozen')
    const { done = 0 } = running.status.summary ?? {}
    await cluster.pass(hour)
    expect(running.status.summary).toMatchObject({ done, working: 0 })
    await person.setsPolicy({ freezes: [] })
    await running.succeeds()
  })

  scenario('what cannot be read closes everything, and names it', { nodes: 2 }, async ({ cluster, update, person }) => {
    const accepted = () =>
      cluster.sim.server
        .peek(maintenancePolicies, { name: policyName })
        ?.status?.conditions?.find(({ type }) => type === 'Accepted')
    await person.setsPolicy({ windows: [{ ...atNine, timeZone: 'Europe/Bielefeld' }] })
    await cluster.until('the policy says so itself', () => accepted()?.status === 'False', minute)
    expect(accepted()).toMatchObject({ reason: 'CalendarInvalid', message: expect.stringContaining('Bielefeld') })
    const running = await update.script('true').is('InProgress', 'CalendarInvalid')
    expect(running.condition('Blocked')?.message).toContain('time zone "Europe/Bielefeld" is not known')
    await cluster.pass(2 * hour)
    expect(cluster.taken).toEqual([])
    await person.setsPolicy({ windows: [{ start: '00:00', end: '24:00' }] })
    await running.succeeds()
    expect(accepted()?.status).toBe('True')
  })

  scenario('a drain that the policy holds waits for the next window', { nodes: 3 }, async (story) => {
    const { cluster, update, person } = story
    await person.setsPolicy({ windows: [briefly], whenWindowCloses: 'Hold' })
    await person.deploys({ name: 'web', replicas: 2, maxUnavailable: 0 })
    const running = update.script('true', { drain: { timeout: '10m', onTimeout: 'Abort' } })
    const held = () =>
      cluster.names.filter((name) => cluster.state(name)?.status?.rollout?.reason?.code === 'OutsideWindow')
    await sleepUntil(cluster, '05T09:10')
    expect(held()).toHaveLength(1)
    const [name = ''] = held()
    await cluster.pass(2 * hour)
    expect(cluster.state(name)?.status?.rollout).toMatchObject({ phase: 'Draining' })
    expect(cluster.isCordoned(name)).toBe(true)
    await sleepUntil(cluster, '06T09:01')
    expect(cluster.state(name)?.status?.rollout).toMatchObject({ phase: 'Draining' })
    expect(running.status.phase).toBe('InProgress')
    await person.changes(podDisruptionBudgets, 'web', { spec: { maxUnavailable: 1 } })
    await cluster.until('it is done', () => running.status.phase === 'Succeeded', 5 * day)
  })

  describe('that another leader finds held', () => {
    const rotate = { name: 'rotate', configMap: 'rotate', sha256: job.sha256 }

    /** A leader that cannot read the job's script, so that it does not take the maintenance up, and a pod that may leave. */
    async function isFoundHeld({ cluster, person, faults }: Story): Promise<string> {
      await person.storesScript('rotate', operatorNamespace, script)
      await person.deploys({ name: 'web', replicas: 2, maxUnavailable: 0 })
      const maintenance = { jobs: [rotate] }
      await person.setsPolicy({ windows: [briefly], whenWindowCloses: 'Hold', maintenance })
      const held = () =>
        cluster.names.find((name) => cluster.state(name)?.status?.rollout?.reason?.code === 'OutsideWindow')
      await sleepUntil(cluster, '05T09:10')
      const name = held()
      expect(name).toBeDefined()
      faults.refuse('get', new KubeError('Forbidden', 'configmaps is forbidden'), configMaps)
      for (const process of cluster.sim.programs()) process.crash()
      await person.changes(podDisruptionBudgets, 'web', { spec: { maxUnavailable: 1 } })
      return name ?? ''
    }

    scenario('it waits for the next window', able(3), async (story) => {
      const { cluster, faults } = story
      const name = await isFoundHeld(story)
      const left = new Set<string>()
      const stop = cluster.sim.server.onCommit(({ kind, before, after }) => {
        if (kind === pods.kind && (!after || after.metadata.deletionTimestamp)) left.add(before?.metadata.name ?? '')
      })
      await cluster.pass(2 * hour)
      expect([...left]).toEqual([])
      expect(cluster.taken).toEqual([name])
      stop()
      faults.allow('get')
      const isDone = () => cluster.state(name)?.status?.agent?.jobs?.length === 1
      await cluster.until('it is done in a window', isDone, 3 * day)
      expect(clockOf(cluster)).toMatch(/T09:0[0-5]/)
      await cluster.until('all is back', () => cluster.ledger.grants.length === 0, 3 * day)
    })

    scenario('it is put back where nobody asks for it any more', able(3), async (story) => {
      const { cluster, person } = story
      await isFoundHeld(story)
      await cluster.pass(2 * minute)
      await person.setsPolicy({ windows: [briefly], whenWindowCloses: 'Hold', maintenance: { jobs: [] } })
      const isBack = () => cluster.taken.length === 0 && cluster.ledger.grants.length === 0
      await cluster.until('it is put back', isBack, hour)
    })
  })

  scenario('what a script asks for waits for the window for reboots', able(2), async ({ cluster, person }) => {
    const windows: WindowSpec[] = [
      { start: '08:00', end: '20:00', work: ['Maintenance'] },
      { cron: '0 3 * * tue', duration: '1h', work: ['Reboot'] },
    ]
    await person.setsPolicy({ windows, reboots: { sentinels: ['/var/run/reboot-required'] }, maintenance: {} })
    const { host } = cluster.machine('w1')
    const before = await host.bootId()
    const facts = host.facts.bind(host)
    await ask(cluster, 'w1')
    await isLetIn(cluster, 'w1')
    await files(cluster, 'w1').write('/var/run/reboot-required', '', asRoot)
    host.facts = async (signal) => ({ ...(await facts(signal)), rebootRequired: 'libc6' })
    await finish(cluster, 'w1')
    await cluster.until('it is back', () => cluster.ledger.grants.length === 0)
    await sleepUntil(cluster, '06T02:59')
    expect(await host.bootId()).toBe(before)
    const booted = () => cluster.state('w1')?.status?.agent?.bootID
    await cluster.until('it boots', () => booted() !== undefined && booted() !== before, hour)
    await cluster.until('it is back again', () => cluster.ledger.grants.length === 0)
  })

  let diskOf: (node: string) => Disk
  const fetching = able(2, (node) => ({
    fetch: async ({ to }) => {
      await diskOf(node).makeFolder(to.slice(0, to.lastIndexOf('/')))
      await diskOf(node).write(to, script, 0o700)
      return undefined
    },
  }))
  scenario('a job that was fetched in another window boots no host outside of its own', fetching, async (story) => {
    const { cluster, person } = story
    diskOf = (node) => cluster.machine(node).host.disk
    const windows: WindowSpec[] = [
      { start: '08:30', end: '09:30', work: ['Maintenance'] },
      { cron: '0 8 * * mon', duration: '30m', work: ['Reboot'] },
    ]
    const { host } = cluster.machine('w1')
    const before = await host.bootId()
    const facts = host.facts.bind(host)
    host.facts = async (signal) => ({ ...(await facts(signal)), rebootRequired: 'libc6' })
    await person.setsPolicy({
      windows,
      reboots: { sentinels: ['/var/run/reboot-required'] },
      maintenance: { jobs: [job] },
    })
    const order = () => cluster.state('w1')?.spec.order
    const taken = new Set<unknown>()
    cluster.sim.server.onCommit(() => {
      if (cluster.ledger.grants.some(({ node }) => node === 'w1')) taken.add(order()?.work.reboot)
    })
    await cluster.until(
      'w1 has fetched it',
      () => order()?.desired === 'Stage' && order()?.work.reboot === 'IfRequired',
    )
    await cluster.until(
      'all have done it',
      () => ['w1', 'cp1'].every((name) => cluster.state(name)?.status?.agent?.jobs?.length === 1),
      2 * hour,
    )
    await cluster.until('all is back', () => cluster.ledger.grants.length === 0)
    expect(await host.bootId()).toBe(before)
    // It was fetched anew before the node was taken.
    expect([...taken]).toEqual(['Never'])
    expect(order()?.work.jobs).toMatchObject([{ name: 'rotate' }])
  })

  scenario('a window for reboots only', able(2), async ({ cluster, person }) => {
    const windows: WindowSpec[] = [{ cron: '0 9 * * mon', duration: '1h', work: ['Reboot'] }]
    await person.setsPolicy({ windows, reboots: { sentinels: ['/var/run/reboot-required'] }, maintenance: {} })
    await files(cluster, 'w1').write('/var/run/reboot-required', '', asRoot)
    await ask(cluster, 'w1')
    const { host } = cluster.machine('w1')
    const booted = () => cluster.state('w1')?.status?.agent?.bootID
    const before = await host.bootId()
    await sleepUntil(cluster, '05T08:59')
    expect(cluster.taken).toEqual([])
    await cluster.until('it boots', () => booted() !== undefined && booted() !== before, hour)
    await cluster.pass(2 * hour)
    expect(cluster.taken).toEqual([])
    await person.setsPolicy({ windows: [] })
    await isLetIn(cluster, 'w1')
    await finish(cluster, 'w1')
    await cluster.until('it is back', () => cluster.ledger.grants.length === 0)
  })
})
