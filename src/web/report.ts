// Everything known of one run, for a ticket or an auditor: the update, its nodes, the policy it ran under.

import { type DirectUpdate, directUpdates } from '../api/direct-update.ts'
import { isKubeError } from '../api/kube-error.ts'
import { type MaintenancePolicy, maintenancePolicies, policyName } from '../api/maintenance-policy.ts'
import { type NodeState, nodeStates } from '../api/node-state.ts'
import { eachListed } from '../kube/each-listed.ts'
import type { KubeApi } from '../ports/kube-api.ts'
import { withoutManagers } from './slim.ts'

export interface RunReport {
  readonly at: string
  readonly update: DirectUpdate
  readonly nodes: readonly NodeState[]
  readonly policy?: MaintenancePolicy
}

export async function reportOf(api: KubeApi, name: string, now: Date, signal: AbortSignal): Promise<RunReport> {
  const update = await api.get(directUpdates, { name }, signal)
  const policy = await api.get(maintenancePolicies, { name: policyName }, signal).catch((error: unknown) => {
    if (isKubeError(error, 'NotFound', 'Forbidden')) return undefined
    throw error
  })
  const nodes: NodeState[] = []
  await eachListed(
    api,
    nodeStates,
    {},
    (state) => {
      if (state.status?.rollout?.update === name) nodes.push(withoutLogs(withoutManagers(state)))
    },
    signal,
  )
  return {
    at: now.toISOString(),
    update: withoutManagers(update),
    nodes,
    ...(policy && { policy: withoutManagers(policy) }),
  }
}

/** A log that somebody asked for once is compressed, and no part of the run. */
function withoutLogs(state: NodeState): NodeState {
  const agent = state.status?.agent
  if (!agent?.logs) return state
  const { logs: _logs, ...rest } = agent
  return { ...state, status: { ...state.status, agent: rest } }
}
