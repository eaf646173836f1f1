// What stands around the operator's pods: their budget, the way to their metrics, and who may ask for them.

import type { InstallSettings, Manifest } from './manifest.ts'
import { labelsOf, operatorName } from './rights.ts'
import { metricsPort } from './workloads.ts'

export function operatorSurroundings({ namespace }: InstallSettings): readonly Manifest[] {
  const labels = labelsOf(operatorName)
  const metadata = { name: operatorName, namespace, labels }
  return [
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata,
      // A replica that does not work must not hold up the drain of its node.
      spec: { maxUnavailable: 1, unhealthyPodEvictionPolicy: 'AlwaysAllow', selector: { matchLabels: labels } },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata,
      spec: { selector: labels, ports: [{ name: 'metrics', port: metricsPort, targetPort: 'metrics' }] },
    },
    {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata,
      // It speaks with the API server, gates, registries and stores, so what goes out is left to the cluster. The agents use
      // their hosts' network, where such a policy has no say.
      spec: {
        podSelector: { matchLabels: labels },
        policyTypes: ['Ingress'],
        ingress: [{ ports: [{ port: 'metrics', protocol: 'TCP' }] }],
      },
    },
  ]
}
