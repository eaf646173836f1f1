// What an agent learns from a real etcd of three members and from a real API server, with the certificates of its host.

import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FileDisk } from '../../src/adapters/disk/file-disk.ts'
import { LinuxHost } from '../../src/adapters/host/linux-host.ts'
import { nodeRequests } from '../../src/adapters/secure-requests/node-requests.ts'
import { lookAtApiServer } from '../../src/agent/control-plane/look-at-api-server.ts'
import { lookAtEtcd } from '../../src/agent/control-plane/look-at-etcd.ts'
import { notePeers, peerObstacle } from '../../src/agent/control-plane/peers.ts'
import { controlPlaneDriver } from '../../src/agent/drivers/control-plane/control-plane-driver.ts'
import type { ActStep } from '../../src/agent/drivers/driver.ts'
import type { EtcdReport } from '../../src/api/control-plane.ts'
import { mayLeave } from '../../src/core/control-plane/may-leave.ts'
import { silentLog } from '../../src/sim/silent-log.ts'
import { kubernetesOrder } from '../agent/agent-bench.ts'
import { StepBench } from '../agent/step-bench.ts'
import { startApiServer } from '../bed/api-server.ts'
import { makeAuthority, makePair } from '../bed/certificates.ts'
import { EtcdCluster, staticPod } from '../bed/etcd-cluster.ts'
import { whyNoApiServer } from '../bed/programs.ts'
import { etcdVersion } from '../bed/versions.ts'

const missing = await whyNoApiServer()
const { signal } = new AbortController()
const order = kubernetesOrder({ role: 'ControlPlane' })
let etcd: EtcdCluster

const hostOf = (root: string) => new LinuxHost({ disk: new FileDisk(), log: silentLog, root })
const look = (name: string) => lookAtEtcd(hostOf(etcd.member(name).root), nodeRequests, signal)
const contextOf = (name: string) => ({ ...new StepBench(order).context, host: hostOf(etcd.member(name).root) })
/** Whether the node may leave, by what all three say just now. */
const mayLeaveNow = async (name: string) => {
  const nodes = await Promise.all(
    etcd.members.map(async (member) => {
      const report = { checkedAt: '2026-01-01T00:00:00Z', etcd: await look(member.name) }
      return { name: member.name, report }
    }),
  )
  return mayLeave(name, nodes, 'Unstated')
}
const stateOf = ({ members }: EtcdReport, name: string) => members.find((member) => member.name === name)

describe.skipIf(missing)('three members of a real etcd', () => {
  beforeAll(async () => {
    etcd = await EtcdCluster.start()
  })
  afterAll(async () => {
    await etcd?.stop()
  })

  test('are seen with their versions, their leader and this host’s own', async () => {
    const report = await look('cp2')
    expect(report).toMatchObject({ place: 'Local', alarms: [] })
    expect(report).not.toHaveProperty('reason')
    expect(report.members.map(({ name }) => name).sort()).toEqual(['cp1', 'cp2', 'cp3'])
    for (const member of report.members) {
      expect(member).toMatchObject({ healthy: true, learner: false, version: etcdVersion.slice(1) })
      expect(member.dbBytes).toBeGreaterThan(0)
    }
    expect(report.members.filter(({ leader }) => leader)).toHaveLength(1)
    expect(stateOf(report, 'cp2')?.id).toBe(report.member)
    expect(await mayLeaveNow('cp2')).toBeUndefined()
  })

  test('hand leadership over before the leader’s host is disturbed', async () => {
    const before = await etcd.leader()
    const [step] = controlPlaneDriver(nodeRequests).steps(order) as readonly [ActStep]
    const context = contextOf(before.name)
    expect(await step.holds?.(context, signal)).toBe(false)
    await step.act(context, signal)
    expect(await step.missing?.(context, signal)).toBeUndefined()
    expect((await etcd.leader()).name).not.toBe(before.name)
    expect(await step.holds?.(context, signal)).toBe(true)
  })

  test('are asked wherever they are, the ones that answer for the ones that do not', async () => {
    const servers = ['https://127.0.0.1:1', ...etcd.members.map(({ url }) => url)]
    const root = await etcd.raiseElsewhere('elsewhere', servers)
    const report = await lookAtEtcd(hostOf(root), nodeRequests, signal)
    expect(report).toMatchObject({ place: 'External', alarms: [] })
    expect(report.members.every(({ healthy }) => healthy)).toBe(true)
    expect(report).not.toHaveProperty('member')
  })

  test('refuse who has a certificate of another authority', async () => {
    const root = await etcd.raiseElsewhere('stranger', [etcd.member('cp1').url])
    const { certificate, key } = makePair(makeAuthority('another'), { name: 'stranger' })
    await writeFile(join(root, '/etc/kubernetes/pki/apiserver-etcd-client.crt'), certificate)
    await writeFile(join(root, '/etc/kubernetes/pki/apiserver-etcd-client.key'), key)
    const report = await lookAtEtcd(hostOf(root), nodeRequests, signal)
    expect(report).toMatchObject({ members: [], reason: { code: 'EtcdUnknown' } })
  })

  test('raise an alarm that keeps every node where it is', async () => {
    const ask = (action: string) =>
      nodeRequests.send(
        {
          method: 'POST',
          url: `${etcd.member('cp1').url}/v3/maintenance/alarm`,
          body: JSON.stringify({ action, alarm: 'NOSPACE' }),
          credentials: { ca: etcd.authority.certificate, ...makePair(etcd.authority, { name: 'test' }) },
          timeoutMs: 5_000,
        },
        signal,
      )
    await ask('ACTIVATE')
    expect(await mayLeaveNow('cp1')).toMatchObject({ code: 'EtcdAlarm', message: expect.stringContaining('NOSPACE') })
    await ask('DEACTIVATE')
    expect(await mayLeaveNow('cp1')).toBeUndefined()
  })

  test('one of which is down keep the others, but not itself', async () => {
    const context = contextOf('cp1')
    await notePeers(context, nodeRequests, signal)
    await etcd.kill('cp3')
    expect(stateOf(await look('cp1'), 'cp3')).toMatchObject({
      healthy: false,
      problem: expect.stringContaining('ECONNREFUSED'),
    })
    expect(await peerObstacle(context, nodeRequests, signal)).toMatchObject({ code: 'EtcdUnhealthy' })
    const { id = '' } = stateOf(await look('cp1'), 'cp3') ?? {}
    const seen = await Promise.all(
      etcd.members.map(async ({ name }) => {
        const report = await look(name)
        return { name, report: { checkedAt: '', etcd: name === 'cp3' ? { ...report, member: id } : report } }
      }),
    )
    expect(mayLeave('cp1', seen, 'Unstated')).toMatchObject({ code: 'EtcdUnhealthy' })
    expect(mayLeave('cp3', seen, 'Unstated')).toBeUndefined()
    await etcd.launch('cp3')
    expect(await peerObstacle(context, nodeRequests, signal)).toBeUndefined()
  })

  test('without a majority none is healthy', async () => {
    await etcd.kill('cp2')
    await etcd.kill('cp3')
    await expect
      .poll(async () => (await look('cp1')).members.every(({ healthy }) => !healthy), { timeout: 60_000 })
      .toBe(true)
    await Promise.all([etcd.launch('cp2'), etcd.launch('cp3')])
    await expect.poll(() => mayLeaveNow('cp1'), { timeout: 60_000 }).toBeUndefined()
  })

  test('a learner keeps every node where it is', async () => {
    const url = `${(await etcd.leader()).url}/v3/cluster/member/add`
    const body = JSON.stringify({ peerURLs: ['https://127.0.0.1:1'], isLearner: true })
    const credentials = { ca: etcd.authority.certificate, ...makePair(etcd.authority, { name: 'test' }) }
    await expect
      .poll(
        async () =>
          (await nodeRequests.send({ method: 'POST', url, body, credentials, timeoutMs: 5_000 }, signal)).status,
        { timeout: 60_000 },
      )
      .toBe(200)
    expect(await mayLeaveNow('cp1')).toMatchObject({ code: 'EtcdLearner' })
  })
})

test.skipIf(missing)('a real API server says whether it is ready', async () => {
  const server = await startApiServer({ controllers: false })
  try {
    const root = join(server.dir, 'host')
    const flags = [
      '--advertise-address=127.0.0.1',
      `--secure-port=${new URL(server.url).port}`,
      '--client-ca-file=/pki/ca.crt',
      '--kubelet-client-certificate=/pki/client.crt',
      '--kubelet-client-key=/pki/client.key',
    ]
    const client = makePair(server.authority, { name: 'kube-apiserver-kubelet-client', group: 'system:masters' })
    const files = {
      '/pki/ca.crt': server.authority.certificate,
      '/pki/client.crt': client.certificate,
      '/pki/client.key': client.key,
      ...staticPod('kube-apiserver', flags),
    }
    for (const [path, content] of Object.entries(files)) {
      await mkdir(dirname(join(root, path)), { recursive: true })
      await writeFile(join(root, path), content)
    }
    const lookNow = () => lookAtApiServer(hostOf(root), nodeRequests, signal)
    expect(await lookNow()).toEqual({ ready: true })
    await server.killApi()
    expect(await lookNow()).toMatchObject({ ready: false, problem: expect.stringContaining('ECONNREFUSED') })
  } finally {
    await server.stop()
  }
})
