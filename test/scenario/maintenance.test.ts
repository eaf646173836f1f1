import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { noteFailure } from '../../src/agent/sentinels/maintenance-failure.ts'
import { podDisruptionBudgets } from '../../src/api/kube.ts'
import { logsAnnotation, nodeStates } from '../../src/api/node-state.ts'
import type { WindowSpec } from '../../src/api/window.ts'
import { inProgressAnnotation, neededAnnotation, waitingTaint } from '../../src/core/maintenance/node-marks.ts'
import { operatorNamespace } from '../../src/sim/workloads.ts'
import {
  able,
  annotation,
  ask,
  asRoot,
  files,
  finish,
  inProgress,
  isLetIn,
  seen,
  stateDir,
} from './maintenance-story.ts'
import { play, type Story, scenario } from './story.ts'
import type { StoryCluster } from './story-cluster.ts'
import { shop } from './story-person.ts'
import { scriptOf } from './story-update.ts'

const anyTime: WindowSpec = { start: '00:00', end: '23:59', work: ['Update'] }

describe('maintenance by a file of the host', () => {
  scenario('is off until the policy asks for it', able(3), async ({ cluster }) => {
    await ask(cluster, 'w1')
    await cluster.pass(900_000)
    expect(cluster.taken).toEqual([])
    expect(cluster.state('w1')?.status?.agent?.sentinels).toBeUndefined()
  })

  scenario(
    'is let in on an empty node, one at a time, the first to ask first',
    able(4),
    async ({ cluster, person }) => {
      await person.setsPolicy({ maintenance: {}, taintWhileWaiting: true })
      await cluster.until('the host is watched', () => cluster.state('w3')?.status?.agent?.sentinels !== undefined)
      await ask(cluster, 'w2')
      await cluster.until('w2 is seen', () => seen(cluster, 'w2') !== undefined)
      await ask(cluster, 'w1')
      await isLetIn(cluster, 'w2')
      await cluster.until('w1 is seen', () => seen(cluster, 'w1') !== undefined)
      await cluster.pass(60_000)
      expect(cluster.taken).toEqual(['w2'])
      expect(annotation(cluster, 'w2', inProgressAnnotation)).toBe(seen(cluster, 'w2'))
      expect(cluster.node('w1')?.spec.taints?.map(({ key }) => key)).toEqual([waitingTaint])
      expect(cluster.node('w2')?.spec.taints ?? []).toEqual([])
      await finish(cluster, 'w2')
      await isLetIn(cluster, 'w1')
      expect(cluster.taken).toEqual(['w1'])
      expect((await files(cluster, 'w2').look(inProgress)).kind).toBe('none')
      await finish(cluster, 'w1')
      await cluster.until('all is as before', () => cluster.taken.length === 0 && cluster.ledger.grants.length === 0)
      await cluster.pass(60_000)
      for (const node of ['w1', 'w2']) {
        expect(annotation(cluster, node, inProgressAnnotation)).toBeUndefined()
        expect(annotation(cluster, node, neededAnnotation)).toBeDefined()
        expect(cluster.node(node)?.spec.taints ?? []).toEqual([])
        expect(cluster.state(node)?.status?.rollout?.phase).toBe('Done')
      }
    },
  )

  scenario('that failed keeps others out through a change of leader', able(40), async ({ cluster, person }) => {
    await person.setsPolicy({ maintenance: {}, budgets: [{ maxUnavailable: 5 }] })
    const last = cluster.names.at(-1) ?? ''
    await cluster.until('the host is watched', () => cluster.state(last)?.status?.agent?.sentinels !== undefined)
    await ask(cluster, last)
    await isLetIn(cluster, last)
    await noteFailure(files(cluster, last), stateDir, 'disk sdb is dead', new Date(0))
    await cluster.nodeIs(last, 'RequiresAttention', 'MaintenanceFailed')
    const others = cluster.names.filter((name) => name !== last)
    for (const name of others) await ask(cluster, name)
    await cluster.until('all have asked', () => others.every((name) => seen(cluster, name)))
    await cluster.pass(60_000)
    expect(cluster.taken).toEqual([last])
    for (const process of cluster.sim.programs()) process.crash()
    await cluster.pass(120_000)
    expect(cluster.ledger.grants.map(({ node }) => node)).toEqual([last])
    expect(cluster.taken).toEqual([last])
    await finish(cluster, last)
    await cluster.until('then they go', () => cluster.taken.length === 5 && !cluster.taken.includes(last))
    for (const name of others) await finish(cluster, name)
    await cluster.until('all is as before', () => cluster.taken.length === 0 && cluster.ledger.grants.length === 0)
  })

  scenario('goes one at a time from the moment at which the budgets are taken out', able(9), async (story) => {
    const { cluster, person } = story
    await person.setsPolicy({ maintenance: {}, budgets: [{ maxUnavailable: 1 }] })
    const last = cluster.names.at(-1) ?? ''
    await cluster.until('the host is watched', () => cluster.state(last)?.status?.agent?.sentinels !== undefined)
    for (const name of cluster.names) await ask(cluster, name)
    await cluster.until('all have asked', () => cluster.names.every((name) => seen(cluster, name)))
    await cluster.until('one is let in', () => cluster.taken.length === 1)
    let most = 0
    cluster.sim.server.onCommit(() => {
      most = Math.max(most, cluster.ledger.grants.length)
    })
    await person.setsPolicy({ budgets: [] })
    await cluster.pass(120_000)
    expect(most).toBe(1)
    for (const name of cluster.names) await finish(cluster, name)
    await cluster.until('all is as before', () => cluster.taken.length === 0 && cluster.ledger.grants.length === 0)
  })

  scenario('that fails keeps its node and its slot, and no other is touched', able(4), async ({ cluster, person }) => {
    await person.setsPolicy({ maintenance: { timeout: '10m' }, budgets: [{ maxUnavailable: 2 }] })
    await cluster.until('the host is watched', () => cluster.state('w1')?.status?.agent?.sentinels !== undefined)
    await ask(cluster, 'w1')
    await isLetIn(cluster, 'w1')
    await noteFailure(files(cluster, 'w1'), stateDir, 'disk sdb is dead', new Date(0))
    const rollout = await cluster.nodeIs('w1', 'RequiresAttention', 'MaintenanceFailed')
    expect(rollout.reason?.message).toBe('disk sdb is dead')
    await ask(cluster, 'w2')
    await cluster.pass(3_600_000)
    expect(cluster.taken).toEqual(['w1'])
    expect(cluster.ledger.grants.map(({ node }) => node)).toEqual(['w1'])
    await finish(cluster, 'w1')
    await isLetIn(cluster, 'w2')
    expect(cluster.taken).toEqual(['w2'])
    await finish(cluster, 'w2')
    await cluster.until('all is as before', () => cluster.taken.length === 0 && cluster.ledger.grants.length === 0)
  })

  scenario(
    'calls for a person when it takes long, and goes on when the script ends after all',
    able(3),
    async (story) => {
      const { cluster, person } = story
      await person.setsPolicy({ maintenance: { timeout: '10m' } })
      await cluster.until('the host is watched', () => cluster.state('w1')?.status?.agent?.sentinels !== undefined)
      await ask(cluster, 'w1')
      await isLetIn(cluster, 'w1')
      await cluster.pass(300_000)
      await cluster.nodeIs('w1', 'RequiresAttention', 'OrderTimedOut')
      await cluster.pass(36_000_000)
      await finish(cluster, 'w1')
      await cluster.nodeIs('w1', 'Done')
      await cluster.until('the slot is back', () => cluster.ledger.grants.length === 0)
      expect(cluster.isCordoned('w1')).toBe(false)
    },
  )

  scenario('leaves a person’s cordon as it was found', able(3), async ({ cluster, person }) => {
    await person.cordons('w1')
    await person.setsPolicy({ maintenance: {} })
    await cluster.until('the host is watched', () => cluster.state('w1')?.status?.agent?.sentinels !== undefined)
    await ask(cluster, 'w1')
    await isLetIn(cluster, 'w1')
    await finish(cluster, 'w1')
    await cluster.nodeIs('w1', 'Done')
    await cluster.until('the slot is back', () => cluster.ledger.grants.length === 0)
    expect(cluster.isCordoned('w1')).toBe(true)
  })
})

describe('a reboot by sentinel', () => {
  scenario('on two nodes at once: never two nodes down', able(4), async ({ cluster, person }) => {
    const sentinel = '/var/run/reboot-required'
    await person.setsPolicy({ reboots: { sentinels: [sentinel] } })
    await cluster.until('the hosts are watched', () => cluster.state('w3')?.status?.agent?.sentinels !== undefined)
    const boots = () => ['w1', 'w2', 'w3'].map((name) => cluster.state(name)?.status?.agent?.bootID)
    const before = boots()
    await files(cluster, 'w1').write(sentinel, '', asRoot)
    await files(cluster, 'w2').write(sentinel, '', asRoot)
    await cluster.until('both were rebooted', () => {
      expect(cluster.taken.length).toBeLessThanOrEqual(1)
      return ['w1', 'w2'].every((name) => cluster.state(name)?.status?.rollout?.phase === 'Done')
    })
    await cluster.pass(1_800_000)
    const after = boots()
    expect(after.map((boot, index) => boot !== before[index])).toEqual([true, true, false])
    expect(
      ['w1', 'w2'].map((name) => cluster.state(name)?.status?.agent?.order?.steps.map((step) => step.attempts)),
    ).toEqual([[1], [1]])
  })

  scenario('does not wait behind all those whose window is shut', able(53), async ({ cluster, person }) => {
    const sentinel = '/var/run/reboot-required'
    const windows: WindowSpec[] = [
      { cron: '* * * * *', duration: '1h', work: ['Reboot'] },
      { cron: '0 3 24 12 *', duration: '1h', work: ['Maintenance'] },
    ]
    await person.setsPolicy({ windows, maintenance: {}, reboots: { sentinels: [sentinel] } })
    const last = cluster.names.at(-1) ?? ''
    const others = cluster.names.filter((name) => name !== last)
    await cluster.until('the hosts are watched', () => cluster.state(last)?.status?.agent?.sentinels !== undefined)
    for (const name of others) await ask(cluster, name)
    await cluster.until('all have asked', () => others.every((name) => seen(cluster, name)))
    await cluster.pass(60_000)
    expect(cluster.taken).toEqual([])
    await files(cluster, last).write(sentinel, '', asRoot)
    await cluster.until('it was rebooted', () => cluster.state(last)?.status?.rollout?.phase === 'Done', 1_800_000)
    await cluster.until('its slot is back', () => cluster.ledger.grants.length === 0)
  })
})
describe('a reboot whose drain is given up', () => {
  scenario('lets the next node go, and is tried again by itself', able(4), async ({ cluster, person }) => {
    const sentinel = '/var/run/reboot-required'
    await person.setsPolicy({ reboots: { sentinels: [sentinel] }, drain: { timeout: '2m', onTimeout: 'Abort' } })
    const onW1 = { nodeSelector: { 'kubernetes.io/hostname': 'w1' } }
    await person.deploys({ name: 'web', replicas: 1, maxUnavailable: 0, pod: onW1 })
    await cluster.pass(15_000)
    await cluster.until('the hosts are watched', () => cluster.state('w3')?.status?.agent?.sentinels !== undefined)
    await files(cluster, 'w1').write(sentinel, '', asRoot)
    await cluster.nodeIs('w1', 'Draining', 'PodDisruptionBudget')
    await files(cluster, 'w2').write(sentinel, '', asRoot)
    await cluster.nodeIs('w1', 'Failed', 'DrainAborted')
    await cluster.nodeIs('w2', 'Done')
    expect(cluster.isCordoned('w1')).toBe(false)
    await cluster.nodeIs('w1', 'Draining', 'PodDisruptionBudget')
    await cluster.nodeIs('w1', 'Failed', 'DrainAborted')
    await person.deletes(podDisruptionBudgets, { name: 'web', namespace: shop })
    await cluster.nodeIs('w1', 'Done')
    await cluster.until('nothing is left', () => cluster.taken.length === 0 && cluster.ledger.grants.length === 0)
  })
})

describe('maintenance jobs', () => {
  const script = 'true\n'
  const sha256 = createHash('sha256').update(script).digest('hex')
  const job = { name: 'rotate', configMap: 'rotate', sha256 }

  scenario('run once on every node, one after another', able(3), async ({ cluster, person }) => {
    await person.setsPolicy({ maintenance: { jobs: [job] } })
    await cluster.pass(30_000)
    expect(cluster.taken, 'nothing is drained for a script that is not there').toEqual([])
    await person.storesScript('rotate', operatorNamespace, script)
    const done = (name: string) => cluster.state(name)?.status?.agent?.jobs?.length === 1
    await cluster.until('all have done it', () => {
      expect(cluster.taken.length).toBeLessThanOrEqual(1)
      return ['cp1', 'w1', 'w2'].every(done)
    })
    await cluster.pass(600_000)
    expect(cluster.taken).toEqual([])
    const runs = ['cp1', 'w1', 'w2'].map(
      (name) => cluster.machine(name).host.executions.filter(({ step }) => step === 'job-rotate').length,
    )
    expect(runs).toEqual([1, 1, 1])
  })
})

describe('the script of a maintenance job', () => {
  const script = 'true\n'
  const { configMap, sha256 } = scriptOf(script)
  const job = { name: 'rotate', configMap, sha256 }
  const hasDone = (cluster: StoryCluster) => (name: string) => cluster.state(name)?.status?.agent?.jobs?.length === 1

  scenario('stays when the policy is made anew while nodes wait', able(4), async ({ cluster, person, update }) => {
    await update.keepScript(script)
    await person.setsPolicy({ maintenance: { jobs: [job] } })
    await cluster.until('one has done it', () => cluster.names.some(hasDone(cluster)))
    await person.deletesPolicy()
    await person.setsPolicy({ maintenance: { jobs: [job] } })
    await cluster.until('all have done it', () => cluster.names.every(hasDone(cluster)))
    await cluster.until('all is as before', () => cluster.taken.length === 0 && cluster.ledger.grants.length === 0)
  })

  scenario('stays when an update that ran it is deleted', able(3), async ({ cluster, person, update }) => {
    const ran = await update.script(script).succeeds()
    await person.setsPolicy({ maintenance: { jobs: [job] } })
    await cluster.until('a node is under work', () => cluster.taken.length > 0)
    await ran.isDeleted()
    await cluster.until('all have done it', () => cluster.names.every(hasDone(cluster)))
    await cluster.until('all is as before', () => cluster.taken.length === 0 && cluster.ledger.grants.length === 0)
  })
})

describe('a reboot sentinel that outlives its reboot', () => {
  const sentinel = '/etc/reboot-wanted'
  const reboots = { sentinels: [sentinel] }
  const bootID = (cluster: StoryCluster) => cluster.state('w1')?.status?.agent?.bootID
  const wished = (cluster: StoryCluster) => cluster.state('w1')?.status?.agent?.sentinels?.rebootRequired
  const isIdle = (cluster: StoryCluster) => cluster.taken.length === 0 && cluster.ledger.grants.length === 0

  scenario('with jobs in one drain asks for no other one after later work', able(2), async (story) => {
    const { cluster, person, update } = story
    const sha256 = createHash('sha256').update('true\n').digest('hex')
    const maintenance = { jobs: [{ name: 'rotate', configMap: 'rotate', sha256 }] }
    await cluster.until('the namespace is there', () => cluster.ledger.epoch > 0)
    await person.storesScript('rotate', operatorNamespace, 'true\n')
    await files(cluster, 'w1').write(sentinel, '', asRoot)
    await person.setsPolicy({ paused: true, reboots, maintenance })
    await cluster.until('it is seen', () => wished(cluster) !== undefined)
    const first = bootID(cluster)
    await person.setsPolicy({ paused: false })
    await cluster.until('it has booted', () => bootID(cluster) !== first && isIdle(cluster))
    const second = bootID(cluster)
    await update.script('true').succeeds()
    await cluster.pass(3_600_000)
    expect(wished(cluster)).toBeDefined()
    expect(bootID(cluster)).toBe(second)
    await files(cluster, 'w1').remove(sentinel)
    await cluster.until('it is taken back', () => wished(cluster) === undefined)
    await files(cluster, 'w1').write(sentinel, '', asRoot)
    await cluster.until('another wish is served', () => bootID(cluster) !== second && isIdle(cluster))
  })

  scenario('of an update asks for no other one', able(2), async ({ cluster, person, update }) => {
    await files(cluster, 'w1').write(sentinel, '', asRoot)
    await person.setsPolicy({ windows: [{ start: '20:00', end: '21:00', work: ['Reboot'] }, anyTime], reboots })
    await cluster.until('it is seen', () => wished(cluster) !== undefined)
    const first = bootID(cluster)
    await update.of({ reboot: 'Always' }).succeeds()
    const second = bootID(cluster)
    expect(second).not.toBe(first)
    await update.script('true', { name: 'later' }).succeeds()
    await person.setsPolicy({ windows: [] })
    await cluster.pass(3_600_000)
    expect(bootID(cluster)).toBe(second)
  })
})

describe('a maintenance job that fails', () => {
  const texts = ['false\n', 'true\n'] as const
  const jobOf = (text: string) => ({
    name: 'rotate',
    configMap: `rotate-${text.trim()}`,
    sha256: createHash('sha256').update(text).digest('hex'),
  })

  scenario('stays failed and holds the others back until it is corrected', able(3), async ({ cluster, person }) => {
    const [bad, good] = texts
    await cluster.until('the namespace is there', () => cluster.ledger.epoch > 0)
    for (const text of texts) await person.storesScript(jobOf(text).configMap, operatorNamespace, text)
    for (const node of cluster.names) cluster.failing.add(node)
    await person.setsPolicy({ maintenance: { jobs: [jobOf(bad)] }, budgets: [{ maxUnavailable: 2 }] })
    await cluster.until('one failed', () =>
      cluster.names.some((name) => cluster.state(name)?.status?.rollout?.phase === 'Failed'),
    )
    await cluster.pass(1_800_000)
    const failed = cluster.names.filter((name) => cluster.state(name)?.status?.rollout?.phase === 'Failed')
    expect(cluster.taken).toEqual(failed)
    expect(failed.length).toBeLessThan(3)
    cluster.failing.clear()
    await person.setsPolicy({ maintenance: { jobs: [jobOf(good)] }, budgets: [{ maxUnavailable: 2 }] })
    await cluster.until('all have done it', () =>
      cluster.names.every((name) => cluster.state(name)?.status?.agent?.jobs?.length === 1),
    )
    await cluster.until('all is as before', () => cluster.taken.length === 0 && cluster.ledger.grants.length === 0)
  })
})

describe('a log that a person asks for', () => {
  scenario('goes through the operator to the agent and back, and is cleared away', able(2), async (story) => {
    const { cluster, person, update } = story
    await update.script('true').succeeds()
    const question = JSON.stringify({ request: 'r1', bytes: 1000 })
    await person.annotates(nodeStates, 'w1', { [logsAnnotation]: question })
    await cluster.until('it is answered', () => cluster.state('w1')?.status?.agent?.logs?.request === 'r1')
    expect(cluster.state('w1')?.metadata.annotations?.[logsAnnotation]).toBeUndefined()
    await cluster.until('it is cleared away', () => cluster.state('w1')?.status?.agent?.logs === undefined)
    expect(cluster.state('w1')?.spec.logs).toBeUndefined()
  })
})

describe('the operator or an agent dies in the middle of maintenance', () => {
  /** Two hosts ask, each is let in once, and everything is as before. */
  async function twoAsk({ cluster, person }: Story): Promise<void> {
    await person.setsPolicy({ maintenance: {}, taintWhileWaiting: true })
    await cluster.until('the hosts are watched', () =>
      ['w1', 'w2'].every((name) => cluster.state(name)?.status?.agent?.sentinels !== undefined),
    )
    for (const node of ['w1', 'w2']) await ask(cluster, node)
    const left = new Set(['w1', 'w2'])
    while (left.size > 0) {
      const letIn = () => [...left].find((name) => isWorking(cluster, name))
      await cluster.until('the next is let in', () => letIn() !== undefined)
      const node = letIn() ?? ''
      expect(cluster.taken).toEqual([node])
      await finish(cluster, node)
      left.delete(node)
    }
    await cluster.until('all is as before', () => cluster.taken.length === 0 && cluster.ledger.grants.length === 0)
    await cluster.pass(400_000)
    for (const node of ['w1', 'w2']) {
      expect((await files(cluster, node).look(inProgress)).kind).toBe('none')
      expect(annotation(cluster, node, inProgressAnnotation)).toBeUndefined()
      expect(cluster.node(node)?.spec.taints ?? []).toEqual([])
    }
  }

  it.each(['operator', 'agent/w1'] as const)('%s, at each of its writes', async (victim) => {
    let writes = 0
    await play(able(3), async (story) => {
      await twoAsk(story)
      writes = story.faults.count(victim, 'write')
    })
    expect(writes).toBeGreaterThan(3)
    for (let nth = 1; nth <= writes; nth++) {
      await play({ ...able(3), crash: { victim, before: 'write', nth } }, twoAsk)
      await play({ ...able(3), crash: { victim, after: 'write', nth } }, twoAsk)
    }
  })
})

function isWorking(cluster: StoryCluster, node: string): boolean {
  const { agent, rollout } = cluster.state(node)?.status ?? {}
  return rollout?.phase === 'Working' && agent?.sentinels?.maintenanceInProgress !== undefined
}
