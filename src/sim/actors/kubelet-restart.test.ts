import { describe, expect, it } from 'vitest'
import { type Condition, leases, nodes } from '../../api/kube.ts'
import { KubeError } from '../../api/kube-error.ts'
import type { RequestFault, RequestInfo } from '../request-fault.ts'
import { SimCluster } from '../sim-cluster.ts'
import { tellKubeletRestart } from './kubelet-restart.ts'

const { signal } = new AbortController()
const ref = { name: 'w1' }
const leaseRef = { name: 'w1', namespace: 'kube-node-lease' }
const since = '2020-01-01T00:00:00Z'
const ready: Condition = { type: 'Ready', status: 'True', lastHeartbeatTime: since, lastTransitionTime: since }
const pressure: Condition = { type: 'DiskPressure', status: 'False', lastHeartbeatTime: since }

/** A node that somebody else animates: no kubelet of ours, no boot id. */
function foreignNode(fault: (info: RequestInfo) => RequestFault | undefined = () => undefined) {
  const cluster = new SimCluster({ seed: 1, nodes: [], which: [] }).start()
  const status = { conditions: [pressure, ready], nodeInfo: { kubeletVersion: 'v1.35.4', bootID: '' } }
  cluster.server.create('kwok', nodes, { metadata: ref, spec: {}, status })
  cluster.server.create('kwok', leases, { metadata: leaseRef, spec: { holderIdentity: 'w1', renewTime: since } })
  const { api, clock } = cluster.process('agent', { faults: { onRequest: fault, onWatchEvent: () => undefined } })
  const tell = () => tellKubeletRestart({ api, clock, nodeName: 'w1', version: 'v1.36.3', bootId: 'boot-2' }, signal)
  return { cluster, tell }
}

describe('a kubelet that others play', () => {
  it('shows its version, boot id and heartbeat, renews its lease, and leaves the rest as it was', async () => {
    const { cluster, tell } = foreignNode()
    const told = tell()
    await cluster.run({ limitMs: 100 })
    expect(await told).toBe(true)
    const { status } = cluster.server.peek(nodes, ref) ?? {}
    const now = cluster.clock.now().getTime()
    expect(status?.nodeInfo).toEqual({ kubeletVersion: 'v1.36.3', bootID: 'boot-2' })
    expect(status?.conditions?.[0]).toEqual(pressure)
    expect(status?.conditions?.[1]).toMatchObject({ status: 'True', lastTransitionTime: since })
    expect(now - Date.parse(status?.conditions?.[1]?.lastHeartbeatTime ?? '')).toBeLessThan(1000)
    const { renewTime } = cluster.server.peek(leases, leaseRef)?.spec ?? {}
    expect(now - Date.parse(renewTime ?? '')).toBeLessThan(1000)
  })

  it('makes the lease where there is none', async () => {
    const { cluster, tell } = foreignNode()
    cluster.server.delete('kwok', leases, leaseRef, {})
    const told = tell()
    await cluster.run({ limitMs: 100 })
    expect(await told).toBe(true)
    expect(cluster.server.peek(leases, leaseRef)?.spec.holderIdentity).toBe('w1')
  })

  it('tries again through conflicts and outages', async () => {
    let left = 3
    const codes = ['Conflict', 'Unreachable', 'Conflict'] as const
    const { cluster, tell } = foreignNode(({ verb, type }) => {
      if (verb !== 'patch' || type.kind !== 'Node' || left === 0) return undefined
      left--
      return { outcome: 'fail', effect: 'none', error: new KubeError(codes[left] ?? 'Timeout', 'not now') }
    })
    const told = tell()
    await cluster.run({ limitMs: 5000 })
    expect(await told).toBe(true)
    expect(left).toBe(0)
    expect(cluster.server.peek(nodes, ref)?.status?.nodeInfo?.kubeletVersion).toBe('v1.36.3')
  })

  it('gives up when the node is gone', async () => {
    const { cluster, tell } = foreignNode()
    cluster.server.delete('kwok', nodes, ref, {})
    const told = tell()
    await cluster.run({ limitMs: 100 })
    expect(await told).toBe(false)
  })
})
