// Everything a cluster needs besides the CRDs, as typed objects, in the order they are applied.

import { admissionPolicy } from './admission.ts'
import { lockRights } from './lock-rights.ts'
import type { InstallSettings, Manifest } from './manifest.ts'
import { agentRights, operatorRights } from './rights.ts'
import { agentDaemonSet, operatorDeployment } from './workloads.ts'

/** The namespace comes first. */
export function manifests(settings: InstallSettings): readonly Manifest[] {
  return [
    namespaceManifest(settings),
    ...operatorRights(settings),
    ...lockRights(settings),
    ...agentRights(settings),
    ...admissionPolicy(settings),
    operatorDeployment(settings),
    ...(settings.hostService ? [] : [agentDaemonSet(settings)]),
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
