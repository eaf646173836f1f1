// A small service to watch while its nodes are taken away: some replicas on different nodes, a budget, a port on every node.

import { webImage } from './kubernetes-images.ts'

export interface WebWorkload {
  readonly name: string
  readonly replicas: number
  readonly nodePort: number
  /** How long a pod goes on answering after it was told to end, while the word spreads that it ends. */
  readonly drainSeconds?: number
  /** `maxUnavailable` of its PodDisruptionBudget; without it there is none. */
  readonly maxUnavailable?: number
  /** Its pods may run there, too: with one worker they must, while that is away. */
  readonly onControlPlanes?: boolean
}

/** For `kubectl apply -f -`. */
export function webWorkload(workload: WebWorkload): string {
  const { name, replicas, nodePort, drainSeconds = 5, maxUnavailable, onControlPlanes = false } = workload
  const labels = { app: name }
  const selector = { matchLabels: labels }
  const container = {
    name: 'web',
    image: webImage,
    imagePullPolicy: 'Never',
    ports: [{ containerPort: 80 }],
    readinessProbe: { httpGet: { path: '/', port: 80 }, periodSeconds: 1 },
    lifecycle: { preStop: { exec: { command: ['/bin/sleep', String(drainSeconds)] } } },
  }
  const spread = {
    maxSkew: 1,
    topologyKey: 'kubernetes.io/hostname',
    whenUnsatisfiable: 'ScheduleAnyway',
    labelSelector: selector,
  }
  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, labels },
    spec: {
      replicas,
      selector,
      template: {
        metadata: { labels },
        spec: {
          containers: [container],
          topologySpreadConstraints: [spread],
          // A node that is gone is noticed late enough as it is.
          terminationGracePeriodSeconds: drainSeconds + 5,
          automountServiceAccountToken: false,
          ...(onControlPlanes && {
            tolerations: [{ key: 'node-role.kubernetes.io/control-plane', operator: 'Exists' }],
          }),
        },
      },
    },
  }
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name },
    spec: { type: 'NodePort', selector: labels, ports: [{ port: 80, nodePort }] },
  }
  const budget = {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name },
    spec: { maxUnavailable, selector },
  }
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'List',
    items: [deployment, service, ...(maxUnavailable === undefined ? [] : [budget])],
  })
}
