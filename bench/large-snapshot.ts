// A large cluster as `slipway snapshot` would save it, made without one: Deployments of fifty pods spread over all workers, every
// fifth with a budget.

import type { Node, Pod } from '../src/api/kube.ts'
import type { NodeState } from '../src/api/node-state.ts'
import { type ClusterSnapshot, snapshotVersion } from '../src/api/snapshot.ts'

const wellConditions = [
  ...['MemoryPressure', 'DiskPressure'].map((type) => ({ type, status: 'False' as const })),
  { type: 'Ready', status: 'True' as const },
]
const takenAt = '2026-11-15T12:00:00.000Z'
const created = '2026-11-01T00:00:00Z'
const podsPerSet = 50
const requests = { cpu: '100m', memory: '128Mi' }

const meta = (name: string, more: object = {}) => ({
  name,
  uid: `uid-${name}`,
  resourceVersion: '1',
  creationTimestamp: created,
  ...more,
})

export function largeSnapshot(nodes: number, podsPerNode: number): ClusterSnapshot {
  const names = Array.from({ length: nodes }, (_, index) => (index < 3 ? `cp${index + 1}` : `w${index - 2}`))
  const workers = names.slice(3)
  const sets = Math.ceil((workers.length * podsPerNode) / podsPerSet)
  const apps = Array.from({ length: sets }, (_, index) => `app-${index + 1}`)
  const template = (app: string) => ({
    metadata: { labels: { app } },
    spec: { containers: [{ name: 'main', image: 'web:1', resources: { requests } }] },
  })
  const workload = (app: string, name: string, more: object = {}) => ({
    metadata: meta(name, {
      namespace: 'shop',
      generation: 1,
      annotations: { 'deployment.kubernetes.io/revision': '1' },
      ...more,
    }),
    spec: { replicas: podsPerSet, selector: { matchLabels: { app } }, template: template(app) },
    status: { replicas: podsPerSet, readyReplicas: podsPerSet, observedGeneration: 1 },
  })
  return {
    kind: 'ClusterSnapshot',
    version: snapshotVersion,
    takenAt,
    serverVersion: 'v1.35.4',
    installed: true,
    nodes: names.map(nodeOf),
    pods: apps.flatMap((app, set) =>
      Array.from({ length: podsPerSet }, (_, index) =>
        podOf(app, index, workers[(set * podsPerSet + index) % workers.length] ?? ''),
      ),
    ),
    deployments: apps.map((app) => workload(app, app)),
    replicaSets: apps.map((app) => workload(app, `${app}-1`, { ownerReferences: [ownerOf('Deployment', app)] })),
    statefulSets: [],
    daemonSets: [],
    jobs: [],
    podDisruptionBudgets: apps
      .filter((_, index) => index % 5 === 0)
      .map((app) => ({
        metadata: meta(`budget-${app}`, { namespace: 'shop', generation: 1 }),
        spec: { maxUnavailable: '50%', selector: { matchLabels: { app } } },
        status: {
          observedGeneration: 1,
          disruptionsAllowed: 25,
          currentHealthy: 50,
          desiredHealthy: 25,
          expectedPods: 50,
        },
      })),
    nodeStates: names.map(stateOf),
    nodeProfiles: [],
    directUpdates: [],
    maintenancePolicies: [],
  }
}

function ownerOf(kind: string, name: string) {
  return { apiVersion: 'apps/v1', kind, name, uid: `uid-${name}`, controller: true }
}

function nodeOf(name: string): Node {
  const isControlPlane = name.startsWith('cp')
  const role = isControlPlane ? { 'node-role.kubernetes.io/control-plane': '' } : {}
  return {
    metadata: meta(name, { labels: { 'kubernetes.io/hostname': name, ...role } }),
    spec: isControlPlane ? { taints: [{ key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' }] } : {},
    status: {
      conditions: wellConditions,
      nodeInfo: { kubeletVersion: 'v1.35.4', bootID: `boot-${name}`, containerRuntimeVersion: 'containerd://2.2.1' },
      allocatable: { cpu: '16', memory: '64Gi', pods: '110' },
    },
  }
}

function podOf(app: string, index: number, nodeName: string): Pod {
  return {
    metadata: meta(`${app}-1-${index}`, {
      namespace: 'shop',
      labels: { app },
      ownerReferences: [ownerOf('ReplicaSet', `${app}-1`)],
    }),
    spec: { nodeName, containers: [{ name: 'main', image: 'web:1', resources: { requests } }] },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
  }
}

function stateOf(name: string): NodeState {
  const facts = {
    os: 'Debian 13',
    kernel: '6.12',
    architecture: 'amd64',
    kubelet: 'v1.35.4',
    versionsOnOffer: ['v1.36.3'],
    cgroup: 'v2' as const,
    freeGiB: 10,
  }
  const controlPlane = { apiServer: 'v1.35.4', etcd: '3.6.8-0', certificatesExpireAt: '2099-01-01T00:00:00Z' }
  return {
    metadata: meta(name, {
      generation: 1,
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid: `uid-${name}` }],
    }),
    spec: {},
    status: {
      agent: {
        version: '0.1.0',
        bootID: `boot-${name}`,
        epoch: 0,
        drivers: ['script', 'kubeadm', 'kubelet', 'kubectl'],
        facts: { ...facts, ...(name.startsWith('cp') && controlPlane) },
      },
    },
  }
}
