// What the people of a fault run work with: objects that are gone by now are left alone.

import { nodes } from '../../api/kube.ts'
import { maintenancePolicies, policyName } from '../../api/maintenance-policy.ts'
import type { KubeApi } from '../../ports/kube-api.ts'
import type { SimCluster } from '../../sim/sim-cluster.ts'

export interface Hands {
  readonly cluster: SimCluster
  readonly api: KubeApi
  readonly signal: AbortSignal
}

type Body = Readonly<Record<string, unknown>>

export async function patchNode(name: string, body: Body, { cluster, api, signal }: Hands): Promise<void> {
  if (cluster.server.peek(nodes, { name })) await api.patch(nodes, { name }, { type: 'merge', body }, signal)
}

export async function patchPolicy(spec: Body, { cluster, api, signal }: Hands): Promise<void> {
  if (cluster.server.peek(maintenancePolicies, { name: policyName }))
    await api.patch(maintenancePolicies, { name: policyName }, { type: 'merge', body: { spec } }, signal)
}
