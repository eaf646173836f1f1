// Everything a cluster needs besides the CRDs, as typed objects, in the order they are applied.

import { admissionPolicy } from './admission.ts'
import { approvalPolicy } from './approval-policy.ts'
import { foreignManifests } from './foreign-rights.ts'
import { hostCodePolicies } from './host-code-policy.ts'
import { lockRights } from './lock-rights.ts'
import type { InstallSettings, Manifest } from './manifest.ts'
import { metadataPolicy } from './metadata-policy.ts'
import { asFarAsWanted } from './only-reboots.ts'
import { operatorSurroundings } from './operator-surroundings.ts'
import { peopleManifests } from './people-roles.ts'
import { agentRights, operatorRights } from './rights.ts'
import { agentDaemonSet, operatorDeployment } from './workloads.ts'

/** The namespace comes first. */
export function manifests(settings: InstallSettings): readonly Manifest[] {
  return asFarAsWanted(settings, [
    namespaceManifest(settings),
    ...operatorRights(settings),
    ...lockRights(settings),
    ...foreignManifests(settings),
    ...agentRights(settings),
    ...peopleManifests(settings),
    ...admissionPolicy(settings),
    ...approvalPolicy(settings),
    ...hostCodePolicies(settings),
    ...metadataPolicy(settings),
    ...operatorSurroundings(settings),
    operatorDeployment(settings),
    ...(settings.hostService ? [] : [agentDaemonSet(settings)]),
  ])
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
