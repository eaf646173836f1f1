// Before Slipway goes: nothing new may start, and nothing may be under way.

import { isKubeError } from '../../api/kube-error.ts'
import {
  type MaintenancePolicy,
  maintenancePolicies,
  policyName,
  stopAnnotation,
} from '../../api/maintenance-policy.ts'
import { nodeStates } from '../../api/node-state.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import { hasStopped } from '../../core/node/order.ts'
import type { KubeApi } from '../../ports/kube-api.ts'
import { listAll, readPolicy } from '../read-cluster.ts'

const namedAtMost = 5

export function isUninstallsStop({ metadata }: MaintenancePolicy): boolean {
  return metadata.annotations?.[stopAnnotation] === 'uninstall'
}

/** Sets the emergency stop; undefined kinds have nothing to stop. */
export async function stopWork(api: KubeApi, signal: AbortSignal): Promise<void> {
  await changePolicy(api, signal, ({ spec }) =>
    spec.paused ? undefined : { annotations: { [stopAnnotation]: 'uninstall' }, paused: true },
  )
}

/** Takes that stop back, also one of an earlier try: whoever installs again goes on where this ended. A person's stop stays. */
export async function endStop(api: KubeApi, signal: AbortSignal): Promise<void> {
  await changePolicy(api, signal, (policy) =>
    isUninstallsStop(policy) ? { annotations: { [stopAnnotation]: null }, paused: null } : undefined,
  )
}

interface StopChange {
  readonly annotations: Readonly<Record<string, string | null>>
  readonly paused: true | null
}

/** Another writer may come between reading and writing; then both are done again. */
const tries = 10

async function changePolicy(
  api: KubeApi,
  signal: AbortSignal,
  decide: (policy: MaintenancePolicy) => StopChange | undefined,
): Promise<void> {
  for (let left = tries; ; left--) {
    const policy = await readPolicy(api, signal)
    const change = policy && decide(policy)
    if (!change) return
    const { annotations, paused } = change
    const body = { metadata: { resourceVersion: policy.metadata.resourceVersion, annotations }, spec: { paused } }
    try {
      await api.patch(maintenancePolicies, { name: policyName }, { type: 'merge', body }, signal)
      return
    } catch (error) {
      if (!isKubeError(error, 'Conflict') || left <= 1) throw error
    }
  }
}

/** Nodes that hold a slot, or whose agent has not said the last word on its order. */
export async function nodesUnderWork(api: KubeApi, signal: AbortSignal): Promise<readonly string[]> {
  const [policy, { items }] = await Promise.all([readPolicy(api, signal), listAll(api, nodeStates, {}, signal)])
  const granted = policy?.status?.ledger?.grants.map(({ node }) => node) ?? []
  const ordered = items.filter((state) => state.spec.order && !hasStopped(state.spec.order, state))
  return [...new Set([...granted, ...ordered.map(({ metadata }) => metadata.name)])].toSorted()
}

/** `soFar`: what was removed before they were seen. */
export function underWork(names: readonly string[], soFar: string): SlipwayError {
  const more = names.length > namedAtMost ? ` and ${names.length - namedAtMost} more` : ''
  return new SlipwayError(
    'Refused',
    `nodes are under work: ${names.slice(0, namedAtMost).join(', ')}${more}; nothing new starts, and ${soFar}`,
    {
      nextStep:
        'wait until slipway nodes shows them at rest, then run it again; slipway start --all takes the stop back, --force removes all the same',
    },
  )
}
