// The bed's image hosts have a kubelet that only waits. What a real one would report is read on the host and posted from here.

import { setTimeout as delay } from 'node:timers/promises'
import { leases, nodes } from '../../src/api/kube.ts'
import { isKubeError } from '../../src/api/kube-error.ts'
import type { KubeApi } from '../../src/ports/kube-api.ts'
import type { Machine } from '../bed/machine.ts'

const reportEveryMs = 1_000
const namespace = 'kube-node-lease'

// Ends with an error where no kubelet runs: then nobody reports.
const look = `systemctl is-active --quiet kubelet || exit 1
date -u +%Y-%m-%dT%H:%M:%SZ
cat /proc/sys/kernel/random/boot_id
kubelet --version
. /etc/os-release && echo "$PRETTY_NAME"
`

/** Registers the host, then keeps its Node and Lease as fresh as its kubelet would. A host that is off, or without one, is silent. */
export async function standInForKubelet(api: KubeApi, machine: Machine, signal: AbortSignal): Promise<void> {
  const { name } = machine
  const limit = AbortSignal.timeout(30_000)
  const labels = { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux' }
  await api.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name, labels }, spec: {} }, limit)
  const lease = { metadata: { name, namespace }, spec: { holderIdentity: name, leaseDurationSeconds: 40 } }
  await api.create(leases, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', ...lease }, limit)
  await report(api, machine)
  // The taint with which the API server makes a node; the node controller would take it away.
  await api.patch(nodes, { name }, { type: 'merge', body: { spec: { taints: null } } }, limit)
  void keepReporting(api, machine, signal)
}

async function keepReporting(api: KubeApi, machine: Machine, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await report(api, machine).catch((error: unknown) => {
      if (!isKubeError(error) && !signal.aborted) throw error
    })
    await delay(reportEveryMs)
  }
}

async function report(api: KubeApi, machine: Machine): Promise<void> {
  const seen = await machine.exec(['sh', '-c', look], { timeoutMs: 5_000 }).catch(() => undefined)
  if (seen?.code !== 0) return
  const [at = '', bootID = '', kubelet = '', osImage = ''] = seen.stdout.trim().split('\n')
  const { name } = machine
  const limit = AbortSignal.timeout(10_000)
  const ready = { type: 'Ready', status: 'True', reason: 'KubeletReady', lastHeartbeatTime: at, lastTransitionTime: at }
  const room = { cpu: '2', memory: '4Gi', pods: '110' }
  const nodeInfo = { bootID, osImage, kubeletVersion: kubelet.replace('Kubernetes ', '') }
  const status = { capacity: room, allocatable: room, conditions: [ready], nodeInfo }
  await api.patch(nodes, { name }, { type: 'merge', body: { status } }, limit, 'status')
  const renewTime = at.replace('Z', '.000000Z')
  await api.patch(leases, { name, namespace }, { type: 'merge', body: { spec: { renewTime } } }, limit)
}
