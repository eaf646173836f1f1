// Everything a cluster needs besides the CRDs, as typed objects, in the order they are applied.

import { admissionPolicy } from './admission.ts'
import { agentRights, operatorRights } from './rights.ts'
import { agentDaemonSet, operatorDeployment } from './workloads.ts'

export interface InstallSettings {
  readonly namespace: string
  readonly image: string
}

export interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly labels?: Readonly<Record<string, string>>
  }
  readonly [field: string]: unknown
}

/** The namespace comes first. */
export function manifests(settings: InstallSettings): readonly Manifest[] {
  return [
    namespaceManifest(settings),
    ...operatorRights(settings),
    ...agentRights(settings),
    ...admissionPolicy(settings),
    operatorDeployment(settings),
    agentDaemonSet(settings),
  ]
}

function namespaceManifest({ namespace }: InstallSettings): Manifest {
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: {
      name: namespace,
      // The agents are privileged by nature: they change the host.
      labels: { 'app.kubernetes.io/name': 'slipway', 'pod-security.kubernetes.io/enforce': 'privileged' },
    },
  }
}
