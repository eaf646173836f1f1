import { describe, expect } from 'vitest'
import { maintenanceDriver } from '../../src/agent/drivers/maintenance/maintenance.ts'
import { sentinelWatcher } from '../../src/agent/sentinels/sentinel-watcher.ts'
import { nodes } from '../../src/api/kube.ts'
import type { NodeSpec } from '../../src/sim/sim-machine.ts'
import { scenario } from './story.ts'
import type { StoryCluster } from './story-cluster.ts'

const version = 'v1.35.4'
const target = 'v1.36.3'
const controlPlane = (count: number): readonly NodeSpec[] =>
  Array.from({ length: count }, (_, index) => ({ name: `cp${index + 1}`, role: 'control-plane', version }))
const worker: NodeSpec = { name: 'w1', role: 'worker', version }
const three = { nodes: [...controlPlane(3), worker] }
const minuteMs = 60_000

const stepOf = (cluster: StoryCluster, node: string, name: string) =>
  cluster.state(node)?.status?.agent?.order?.steps.find((step) => step.name === name)
const hasRun = (cluster: StoryCluster, node: string) =>
  cluster.machine(node).host.executions.some(({ step }) => step === 'upgrade-control-plane')

describe('a control plane of three', () => {
  scenario('goes one by one, and none leads etcd when its turn comes', three, async ({ cluster, update }) => {
    const led: string[] = []
    cluster.sim.server.onCommit(() => {
      for (const name of ['cp1', 'cp2', 'cp3']) {
        const isStopping = stepOf(cluster, name, 'upgrade-control-plane')?.state === 'Running'
        if (isStopping && cluster.sim.controlPlaneServers.leader === name) led.push(name)
      }
    })
    expect(cluster.sim.controlPlaneServers.leader).toBe('cp1')
    const done = await update.kubernetes(target).succeeds()
    expect(led).toEqual([])
    expect(stepOf(cluster, 'cp1', 'move-etcd-leader')).toMatchObject({ state: 'Succeeded', attempts: 1 })
    expect(cluster.sim.controlPlaneServers.leader).not.toBe('cp1')
    expect(done.status.warnings).toBeUndefined()
  })

  scenario('waits for a member of etcd that is down though its node is Ready', three, async ({ cluster, update }) => {
    cluster.machine('cp3').sickenEtcd(10 * minuteMs)
    const waiting = await update.kubernetes(target).is('InProgress', 'EtcdUnhealthy')
    expect(waiting.condition('Blocked')?.message).toContain('member cp3 of etcd is not healthy, as cp1 sees it')
    await cluster.pass(5 * minuteMs)
    expect(cluster.node('cp3')?.status?.conditions).toContainEqual(
      expect.objectContaining({ type: 'Ready', status: 'True' }),
    )
    expect(cluster.taken).toEqual([])
    await waiting.succeeds()
  })

  scenario('goes on within a minute or so when a person has disarmed an alarm of etcd', three, async (story) => {
    const { cluster, update } = story
    cluster.sim.controlPlaneServers.raiseAlarm('NOSPACE', 'cp2')
    const waiting = await update.kubernetes(target).is('InProgress', 'EtcdAlarm')
    await cluster.pass(3 * minuteMs)
    expect(cluster.taken).toEqual([])
    cluster.sim.controlPlaneServers.disarm()
    await cluster.pass(90_000)
    expect(cluster.taken).not.toEqual([])
    await waiting.succeeds()
  })

  scenario('waits for a node whose API server was taken out, though all else there is well', three, async (story) => {
    const { cluster, update } = story
    const { files } = cluster.machine('cp3').host
    const path = '/etc/kubernetes/manifests/kube-apiserver.yaml'
    const manifest = (await files.read(path)) ?? ''
    await files.remove(path)
    const waiting = await update.script('true').is('InProgress', 'ApiServerNotReady')
    expect(waiting.condition('Blocked')?.message).toContain('cp3 has no API server')
    await cluster.pass(10 * minuteMs)
    expect(cluster.taken).toEqual([])
    await files.write(path, manifest, { mode: 0o600, owner: 'root', group: 'root' })
    await waiting.succeeds()
  })

  scenario('a node whose API server went with the work is not done', three, async ({ cluster, update }) => {
    const running = update.kubernetes(target)
    await cluster.until('cp1 works', () => stepOf(cluster, 'cp1', 'upgrade-kubelet')?.state === 'Running')
    const { files } = cluster.machine('cp1').host
    const path = '/etc/kubernetes/manifests/kube-apiserver.yaml'
    const manifest = (await files.read(path)) ?? ''
    await files.remove(path)
    const rollout = await cluster.nodeIs('cp1', 'Verifying', 'WaitingForHealth')
    expect(rollout.reason?.message).toContain('cp1 has no API server')
    await cluster.pass(2 * minuteMs)
    expect(cluster.taken).toEqual(['cp1'])
    await files.write(path, manifest, { mode: 0o600, owner: 'root', group: 'root' })
    await running.succeeds()
  })

  scenario('an agent that told of trouble and died is named, not the trouble', three, async (story) => {
    const { cluster, update, faults } = story
    cluster.sim.controlPlaneServers.unreadyApiServer('cp3', '[-]etcd failed')
    const waiting = await update.kubernetes(target).is('InProgress', 'ApiServerNotReady')
    faults.keepAway('cp3')
    cluster.machine('cp3').agent?.crash()
    await cluster.pass(3 * minuteMs)
    expect(waiting.condition('Blocked')).toMatchObject({
      reason: 'ControlPlaneUnknown',
      message: expect.stringContaining('cp3 has not said'),
    })
  })

  scenario('a member that falls during the drain is waited for before the first step', three, async (story) => {
    const { cluster, update } = story
    const running = await update.kubernetes(target).starts()
    // The operator's own node goes last.
    expect(cluster.taken).toEqual(['cp2'])
    cluster.machine('cp3').sickenEtcd(10 * minuteMs)
    await cluster.until('cp2 waits', () => cluster.state('cp2')?.status?.agent?.order?.reason?.code === 'EtcdUnhealthy')
    await cluster.pass(5 * minuteMs)
    expect(hasRun(cluster, 'cp2')).toBe(false)
    await running.succeeds()
  })

  scenario('a node is done only when its own member is back', three, async ({ cluster, update }) => {
    const running = update.kubernetes(target)
    await cluster.until('cp1 works', () => stepOf(cluster, 'cp1', 'upgrade-kubelet')?.state === 'Running')
    cluster.machine('cp1').sickenEtcd(5 * minuteMs)
    const rollout = await cluster.nodeIs('cp1', 'Verifying', 'WaitingForHealth')
    expect(rollout.reason?.message).toContain('cp1: etcd cannot be asked')
    await cluster.pass(2 * minuteMs)
    expect(cluster.taken).toEqual(['cp1'])
    await running.succeeds()
  })

  scenario('that lost one is not a control plane of two', three, async ({ cluster, update }) => {
    cluster.machine('cp3').losePower()
    await cluster.pass(2 * minuteMs)
    cluster.sim.server.delete('person', nodes, { name: 'cp3' }, {})
    const waiting = await update.script('true').is('InProgress', 'EtcdUnhealthy')
    await cluster.pass(10 * minuteMs)
    expect(waiting.condition('Blocked')?.message).toContain('member cp3 of etcd is not healthy')
    expect(cluster.taken).toEqual([])
    cluster.machine('cp3').powerOn()
    await waiting.succeeds()
  })

  scenario('at rest writes nothing, and says by itself when a member falls and is back', three, async ({ cluster }) => {
    const written: string[] = []
    cluster.sim.server.onCommit(({ kind, after, client }) => {
      if (kind === 'NodeState' && client.startsWith('agent/')) written.push(after?.metadata.name ?? '')
    })
    await cluster.pass(60 * minuteMs)
    expect(written).toEqual([])
    cluster.machine('cp3').sickenEtcd(20 * minuteMs)
    const seesCp3 = (healthy: boolean) => () =>
      cluster.state('cp1')?.status?.agent?.controlPlane?.etcd.members.find(({ name }) => name === 'cp3')?.healthy ===
      healthy
    await cluster.until('cp1 sees it fall', seesCp3(false), 15 * minuteMs)
    await cluster.until('cp1 sees it back', seesCp3(true), 25 * minuteMs)
  })

  scenario('whose nodes cannot say how they are stays as it is', three, async ({ cluster, update, faults }) => {
    faults.keepAway('cp2')
    cluster.machine('cp2').agent?.crash()
    const waiting = await update.script('true').is('InProgress', 'ControlPlaneUnknown')
    await cluster.pass(10 * minuteMs)
    expect(waiting.condition('Blocked')?.message).toContain('cp2 has not said how the API server and etcd are there')
    expect(cluster.taken).toEqual([])
    faults.letCome('cp2')
    await waiting.succeeds()
  })
})

describe('a control plane without etcd', () => {
  scenario('waits until a person says that there is none', three, async ({ cluster, update, person }) => {
    for (const name of ['cp1', 'cp2', 'cp3']) {
      for (const manifest of ['etcd', 'kube-apiserver']) {
        await cluster.machine(name).host.files.remove(`/etc/kubernetes/manifests/${manifest}.yaml`)
      }
    }
    const waiting = await update.script('true').is('InProgress', 'EtcdUnknown')
    expect(waiting.condition('Blocked')?.message).toContain('datastore: Other')
    await cluster.pass(600_000)
    expect(cluster.taken).toEqual([])
    await person.setsPolicy({ datastore: 'Other' })
    await waiting.succeeds()
  })

  scenario(
    'is asked for the etcd that is there, whatever a person says',
    three,
    async ({ cluster, update, person }) => {
      await person.setsPolicy({ datastore: 'Other' })
      await cluster.sim.controlPlaneServers.addLearner('cp4')
      await update.script('true').is('InProgress', 'EtcdLearner')
    },
  )
})

describe('maintenance of a control-plane node', () => {
  const able = {
    ...three,
    driversOf: (_: string, tools: Parameters<typeof maintenanceDriver>[0]) => [maintenanceDriver(tools)],
    sideTasks: [sentinelWatcher],
  }
  scenario('waits for a member of etcd as any update does', able, async ({ cluster, person }) => {
    await person.setsPolicy({ maintenance: {} })
    cluster.machine('cp3').sickenEtcd(10 * minuteMs)
    const { files } = cluster.machine('cp1').host
    await files.write('/var/maintenance-required', '', { mode: 0o644, owner: 'root', group: 'root' })
    await cluster.pass(5 * minuteMs)
    expect(cluster.taken).toEqual([])
    await cluster.until('cp1 is taken', () => cluster.taken.includes('cp1'))
    await files.remove('/var/maintenance-required')
    await cluster.until('cp1 is back', () => cluster.taken.length === 0 && cluster.ledger.grants.length === 0)
  })
})

describe('a control plane of two', () => {
  scenario('goes as the plan says: the API will be away', { nodes: [...controlPlane(2), worker] }, async (story) => {
    const { cluster, update } = story
    const done = await update.kubernetes(target).succeeds()
    expect(done.status.warnings).toEqual([
      {
        code: 'ControlPlaneAway',
        message:
          'the API will be away while cp1 and, later, cp2 is worked on: of two members of etcd none can agree alone',
      },
    ])
    expect(cluster.ledger.grants).toEqual([])
  })
})

describe('a control-plane node that joined with an old API server', () => {
  const modern = (name: string, role: NodeSpec['role']): NodeSpec => ({ name, role, version: target })
  const late: NodeSpec = { name: 'cp2', role: 'control-plane', version, apiServer: target }
  const joined = { nodes: [modern('cp1', 'control-plane'), late, worker] }

  scenario('holds workers back until it is upgraded by hand, and no longer', joined, async ({ cluster, update }) => {
    const { host } = cluster.machine('cp2')
    const found = host.facts.bind(host)
    // What its agent finds: an API server as old as its kubelet, and later another.
    host.facts = async (signal) => ({ ...(await found(signal)), apiServer: version })
    const says = (apiServer: string) => cluster.state('cp2')?.status?.agent?.facts.apiServer === apiServer
    await cluster.until('it says that it is old', () => says(version), 20 * minuteMs)
    const nodeSelector = { matchLabels: { 'kubernetes.io/hostname': 'w1' } }
    const running = update.kubernetes(target, { nodeSelector, preflight: { skip: ['VersionPath'] } })
    await running.is('InProgress', 'KubeletWouldBeNewer')
    host.facts = found
    await cluster.until('it says that it is upgraded', () => says(target), 20 * minuteMs)
    await cluster.until('a worker goes', () => cluster.taken.length > 0, minuteMs)
    await running.succeeds()
  })
})
