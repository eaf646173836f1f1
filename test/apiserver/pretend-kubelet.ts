// Pods on a control plane without kubelets: what is bound becomes Ready, or ends where it is to run once; what is deleted goes.

import { setTimeout as wait } from 'node:timers/promises'
import { nodes, pods } from '../../src/api/kube.ts'
import { isKubeError } from '../../src/api/kube-error.ts'
import type { KubeApi } from '../../src/ports/kube-api.ts'

const lookEveryMs = 200

/** Nodes that are Ready and have room, with nothing on them. */
export async function roomyNodes(api: KubeApi, names: readonly string[]): Promise<void> {
  const signal = AbortSignal.timeout(30_000)
  for (const name of names) {
    const labels = { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux' }
    await api.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name, labels }, spec: {} }, signal)
    const room = { cpu: '8', memory: '16Gi', pods: '110' }
    const at = new Date().toISOString()
    const ready = { type: 'Ready', status: 'True', lastHeartbeatTime: at, lastTransitionTime: at }
    const status = { capacity: room, allocatable: room, conditions: [ready], nodeInfo: { kubeletVersion: 'v1.36.3' } }
    await api.patch(nodes, { name }, { type: 'merge', body: { status } }, signal, 'status')
    // The taint with which the API server makes a node.
    await api.patch(nodes, { name }, { type: 'merge', body: { spec: { taints: null } } }, signal)
  }
}

export interface PodEnd {
  readonly phase: 'Running' | 'Succeeded' | 'Failed'
  readonly containerStatuses?: readonly object[]
}

const succeeds = (): PodEnd => ({ phase: 'Succeeded' })

/** `endOf`: how a pod that runs once ends on a node; `dead`: nodes whose kubelet does not answer. */
export async function playKubelets(
  api: KubeApi,
  signal: AbortSignal,
  endOf: (node: string | undefined) => PodEnd = succeeds,
  dead: ReadonlySet<string> = new Set(),
): Promise<void> {
  const running = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }
  while (!signal.aborted) {
    const { items } = await api.list(pods, {}, AbortSignal.timeout(10_000))
    for (const { metadata, spec, status: found } of items) {
      const { name, namespace = '' } = metadata
      if (dead.has(spec.nodeName ?? '')) continue
      const ref = { name, namespace }
      const status = spec.restartPolicy === 'Never' ? endOf(spec.nodeName) : running
      const limit = AbortSignal.timeout(10_000)
      const turn = metadata.deletionTimestamp
        ? api.delete(pods, ref, { gracePeriodSeconds: 0 }, limit)
        : spec.nodeName && found?.phase !== status.phase
          ? api.patch(pods, ref, { type: 'merge', body: { status } }, limit, 'status')
          : undefined
      await turn?.catch((error: unknown) => {
        if (!isKubeError(error, 'NotFound', 'Conflict')) throw error
      })
    }
    await wait(lookEveryMs)
  }
}
