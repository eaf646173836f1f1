// Objects as an API server would show them, with only what a case is about to be said.

import type { Node, ObjectMeta, Pod } from '../../src/api/kube.ts'
import type { AgentOrder, AgentStatus, NodeState, Order, Rollout } from '../../src/api/node-state.ts'

const controlPlaneLabel = { 'node-role.kubernetes.io/control-plane': '' }

export function metadata(name: string, part: Partial<ObjectMeta> = {}): ObjectMeta {
  return { name, uid: `uid-${name}`, resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z', ...part }
}

export interface NodeTraits {
  readonly controlPlane?: boolean
  readonly labels?: Readonly<Record<string, string>>
  readonly ready?: 'True' | 'False' | 'Unknown'
  readonly cordoned?: boolean
  /** The operation in our mark. */
  readonly mark?: string
  /** Whether it says which marks of autoscalers are ours; where we cordoned, it does. */
  readonly marked?: boolean
  readonly kubelet?: string
  readonly heartbeat?: string
  readonly taints?: NonNullable<Node['spec']['taints']>
  readonly deleting?: boolean
}

export function sampleNode(name: string, traits: NodeTraits = {}): Node {
  const { controlPlane, labels, ready = 'True', cordoned, mark, kubelet = 'v1.35.4', heartbeat, taints } = traits
  return {
    metadata: metadata(name, {
      labels: { ...(controlPlane && controlPlaneLabel), ...labels },
      annotations: {
        ...(mark !== undefined && { 'slipway.dev/cordon': mark }),
        ...((traits.marked ?? mark !== undefined) && { 'slipway.dev/marks': '' }),
      },
      ...(traits.deleting && { deletionTimestamp: '2026-01-02T00:00:00Z' }),
    }),
    spec: { ...(cordoned && { unschedulable: true }), ...(taints && { taints }) },
    status: {
      conditions: [
        { type: 'MemoryPressure', status: 'False' },
        {
          type: 'Ready',
          status: ready,
          message: ready === 'True' ? 'kubelet is posting ready status' : 'container runtime is down',
          ...(heartbeat !== undefined && { lastHeartbeatTime: heartbeat }),
        },
      ],
      nodeInfo: { kubeletVersion: kubelet, bootID: 'boot-1' },
    },
  }
}

/** What the agent of a control-plane host tells besides. */
export const wellControlPlane = { etcd: '3.6.8-0', certificatesExpireAt: '2027-11-01T00:00:00Z' } as const

export function sampleAgent(
  part: Partial<Omit<AgentStatus, 'facts'>> & { facts?: Partial<AgentStatus['facts']> } = {},
) {
  const { facts, ...rest } = part
  const agent: AgentStatus = {
    version: '0.1.0',
    bootID: 'boot-1',
    epoch: 1,
    drivers: ['script', 'kubeadm', 'kubelet', 'kubectl'],
    ...rest,
    facts: {
      os: 'Debian 13',
      kernel: '6.12.0',
      architecture: 'amd64',
      kubelet: 'v1.35.4',
      versionsOnOffer: ['v1.35.4', 'v1.36.3'],
      runtime: 'containerd 2.2.9',
      cgroup: 'v2',
      freeGiB: 10,
      kubeletFlags: [],
      ...facts,
    },
  }
  return agent
}

export interface StateParts {
  readonly rollout?: Rollout | undefined
  readonly order?: Order | undefined
  readonly report?: AgentOrder | undefined
  readonly agent?: AgentStatus | undefined
}

export function sampleState(name: string, { rollout, order, report, agent = sampleAgent() }: StateParts = {}) {
  const state: NodeState = {
    metadata: metadata(name),
    spec: { ...(order && { order }) },
    status: { ...(rollout && { rollout }), agent: { ...agent, ...(report && { order: report }) } },
  }
  return state
}

export interface PodTraits {
  /** The kind of its controller; null for none. */
  readonly controller?: string | null
  readonly phase?: NonNullable<NonNullable<Pod['status']>['phase']>
  readonly ready?: boolean
  readonly deletingSince?: string
  readonly createdAt?: string
  readonly annotations?: Readonly<Record<string, string>>
  readonly spec?: Partial<Pod['spec']>
}

export function samplePod(name: string, traits: PodTraits = {}): Pod {
  const { controller = 'ReplicaSet', phase = 'Running', ready = true } = traits
  const { deletingSince, createdAt, annotations, spec } = traits
  return {
    metadata: metadata(name, {
      namespace: 'shop',
      ...(annotations && { annotations }),
      ...(deletingSince !== undefined && { deletionTimestamp: deletingSince }),
      ...(createdAt !== undefined && { creationTimestamp: createdAt }),
      ...(controller !== null && {
        ownerReferences: [
          { apiVersion: 'apps/v1', kind: controller, name: 'owner', uid: 'uid-owner', controller: true },
        ],
      }),
    }),
    spec: { containers: [{ name: 'main', image: 'shop:1' }], ...spec },
    status: { phase, conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
  }
}
