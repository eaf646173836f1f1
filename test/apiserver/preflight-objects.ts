// Objects that stand in an update's way, as users have them in their clusters.

import type { NodeName } from './preflight-bed.ts'

const pod = (name: string, node: NodeName, cpu = '0') => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default', labels: { app: name } },
  spec: {
    nodeName: node,
    terminationGracePeriodSeconds: 0,
    containers: [{ name: 'main', image: 'a', resources: { requests: { cpu } } }],
  },
})

const budget = (name: string, app: string) => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name, namespace: 'default' },
  spec: { minAvailable: 1, selector: { matchLabels: { app } } },
})

/** One pod, and a budget that wants one. */
export const single = [pod('single', 'w1'), budget('single', 'single')]

/** A Job has no scale, so that nobody can reckon how many of its pods may be away. */
export const unscaled = {
  job: {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'unscaled', namespace: 'default' },
    spec: {
      suspend: true,
      template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'a' }] } },
    },
  },
  podsOf: (uid: string) => {
    const made = pod('unscaled', 'w1')
    const owner = { apiVersion: 'batch/v1', kind: 'Job', name: 'unscaled', uid, controller: true }
    const relaxed = budget('unscaled', 'unscaled')
    const { selector } = relaxed.spec
    return [
      { ...made, metadata: { ...made.metadata, ownerReferences: [owner] } },
      { ...relaxed, spec: { maxUnavailable: 1, selector } },
    ]
  },
}

export const twice = [pod('twice', 'w1'), budget('twice-a', 'twice'), budget('twice-b', 'twice')]

/** Each node is full but for one CPU. */
export const large = [
  pod('large', 'w1', '3'),
  pod('other', 'w2', '3'),
  pod('c1-own', 'c1', '3'),
  pod('c2-own', 'c2', '3'),
]

const nobody = { service: { namespace: 'default', name: 'nobody', path: '/' } }

const asking = (name: string, clientConfig: object, resource: string, operation: string) => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingWebhookConfiguration',
  metadata: { name },
  webhooks: [
    {
      name: `${name}.policy.example`,
      clientConfig,
      rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: [resource], operations: [operation] }],
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
    },
  ],
})

export const webhook = asking('evictions', nobody, 'pods/eviction', 'CREATE')
/** Lets a pod be evicted, and not go. */
export const webhookOnDelete = asking('deletes', nobody, 'pods', 'DELETE')
/** `.invalid` is nobody's, by RFC 6761. */
export const webhookOutside = asking('outside', { url: 'https://guard.invalid/ask' }, 'pods/eviction', 'CREATE')

/** The endpoint of its service, on w1. */
export const slice = {
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name: 'nobody-1', namespace: 'default', labels: { 'kubernetes.io/service-name': 'nobody' } },
  addressType: 'IPv4',
  endpoints: [{ addresses: ['10.0.0.9'], nodeName: 'w1', conditions: { ready: true } }],
  ports: [],
}

/** Through an API that Kubernetes 1.37 does not serve. */
export const serviceRange = {
  apiVersion: 'networking.k8s.io/v1beta1',
  kind: 'ServiceCIDR',
  metadata: { name: 'spare' },
  spec: { cidrs: ['10.97.0.0/24'] },
}
