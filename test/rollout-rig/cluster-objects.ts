// Nodes and workloads as objects on a real API server; the pretend kubelets give them life.

import {
  type Deployment,
  deployments,
  leases,
  nodes,
  type PodDisruptionBudget,
  podDisruptionBudgets,
} from '../../src/api/kube.ts'
import { isKubeError } from '../../src/api/kube-error.ts'
import { microTime } from '../../src/kube/micro-time.ts'
import type { KubeApi } from '../../src/ports/kube-api.ts'

export const groupLabel = 'test.slipway.dev/agents'
const controlPlaneLabel = 'node-role.kubernetes.io/control-plane'

export interface NodeDraft {
  readonly name: string
  readonly controlPlane: boolean
  /** Which process plays its agent. */
  readonly group: string
  readonly version: string
  /** Ready without a kubelet of ours, as somebody else (kwok) would keep it. */
  readonly foreign?: boolean
  readonly labels?: Readonly<Record<string, string>>
  /** No controller is there to take off the taint with which the API server makes a node. */
  readonly unjudged?: boolean
}

export async function createNodes(api: KubeApi, drafts: readonly NodeDraft[], signal: AbortSignal): Promise<void> {
  const waiting = drafts.values()
  const lane = async () => {
    for (const draft of waiting) await createNode(api, draft, signal)
  }
  await Promise.all(Array.from({ length: 16 }, lane))
}

export async function createNode(api: KubeApi, draft: NodeDraft, signal: AbortSignal): Promise<void> {
  const { name, controlPlane, group, version, foreign } = draft
  const taint = { key: controlPlaneLabel, effect: 'NoSchedule' as const }
  const labels = {
    'kubernetes.io/hostname': name,
    'kubernetes.io/os': 'linux',
    [groupLabel]: group,
    ...draft.labels,
    ...(controlPlane && { [controlPlaneLabel]: '' }),
  }
  const spec = controlPlane ? { taints: [taint] } : {}
  await api.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name, labels }, spec }, signal)
  const at = new Date().toISOString()
  const ready = { type: 'Ready', status: 'True', lastHeartbeatTime: at, lastTransitionTime: at }
  const body = { status: { nodeInfo: { kubeletVersion: version }, ...(foreign && { conditions: [ready] }) } }
  await api.patch(nodes, { name }, { type: 'merge', body }, signal, 'status')
  if (foreign) await renewNodeLease(api, name, new Date(), signal)
  if (!draft.unjudged) return
  const untainted = { spec: { taints: controlPlane ? [taint] : null } }
  await api.patch(nodes, { name }, { type: 'merge', body: untainted }, signal)
}

/** As the kubelet of a Ready node does, whose clock is as given. */
export async function renewNodeLease(api: KubeApi, name: string, at: Date, signal: AbortSignal): Promise<void> {
  const ref = { name, namespace: 'kube-node-lease' }
  const spec = { holderIdentity: name, renewTime: microTime(at) }
  try {
    await api.patch(leases, ref, { type: 'merge', body: { spec } }, signal)
  } catch (error) {
    if (!isKubeError(error, 'NotFound')) throw error
    await api.create(leases, { apiVersion: leases.apiVersion, kind: leases.kind, metadata: ref, spec }, signal)
  }
}

export interface WorkloadDraft {
  readonly name: string
  readonly replicas: number
  readonly maxUnavailable: number
}

/** A Deployment and the budget over its pods. */
export async function createWorkload(api: KubeApi, draft: WorkloadDraft, signal: AbortSignal): Promise<void> {
  const { name, replicas, maxUnavailable } = draft
  const metadata = { name, namespace: 'default' }
  const labels = { app: name }
  const selector = { matchLabels: labels }
  await api.create<Deployment>(
    deployments,
    {
      apiVersion: deployments.apiVersion,
      kind: deployments.kind,
      metadata,
      spec: {
        replicas,
        selector,
        template: { metadata: { labels }, spec: { containers: [{ name: 'app', image: 'app:1' }] } },
      },
    },
    signal,
  )
  await api.create<PodDisruptionBudget>(
    podDisruptionBudgets,
    {
      apiVersion: podDisruptionBudgets.apiVersion,
      kind: podDisruptionBudgets.kind,
      metadata,
      spec: { selector, maxUnavailable },
    },
    signal,
  )
}
