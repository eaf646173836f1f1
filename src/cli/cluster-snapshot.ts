// Reading a cluster for a plan: page by page, each object cut down on arrival. Reading rights suffice; those that are missing
// are named all at once.

import { directUpdates } from '../api/direct-update.ts'
import {
  daemonSets,
  deployments,
  jobs,
  type KubeObject,
  leases,
  nodes,
  podDisruptionBudgets,
  pods,
  type ResourceType,
  replicaSets,
  statefulSets,
} from '../api/kube.ts'
import { isKubeError } from '../api/kube-error.ts'
import { maintenancePolicies } from '../api/maintenance-policy.ts'
import { nodeProfiles } from '../api/node-profile.ts'
import { nodeStates } from '../api/node-state.ts'
import { SlipwayError } from '../api/slipway-error.ts'
import {
  type ClusterSnapshot,
  clusterSnapshotSchema,
  type SnapshotPart,
  snapshotParts,
  snapshotVersion,
} from '../api/snapshot.ts'
import type { Clock } from '../ports/clock.ts'
import type { KubeApi } from '../ports/kube-api.ts'
import { parseSaved } from './saved-file.ts'
import { shapeFaults } from './usage.ts'

const types: Readonly<Record<SnapshotPart, ResourceType>> = {
  nodes,
  pods,
  deployments,
  replicaSets,
  statefulSets,
  daemonSets,
  jobs,
  podDisruptionBudgets,
  nodeStates,
  nodeProfiles,
  directUpdates,
  maintenancePolicies,
}
const pageSize = 500
const ours = 'slipway.dev/v1alpha1'

export async function readClusterSnapshot(api: KubeApi, clock: Clock, signal: AbortSignal): Promise<ClusterSnapshot> {
  const lists: Partial<Record<SnapshotPart, readonly unknown[]>> = {}
  const forbidden: string[] = []
  let installed = true
  for (const part of Object.keys(types) as SnapshotPart[]) {
    const found = await readPart(api, part, signal)
    if (found === 'forbidden') forbidden.push(`list ${types[part].plural}`)
    if (found === 'unknown') installed = false
    lists[part] = typeof found === 'string' ? [] : found
  }
  if (forbidden.length > 0) {
    throw new SlipwayError('NotPermitted', `these credentials may not ${forbidden.join(', ')}`, {
      nextStep: 'ask for these rights for the whole cluster (reading suffices), or use another --context',
    })
  }
  const serverVersion = await api.serverVersion(signal)
  const head = { kind: 'ClusterSnapshot', version: snapshotVersion, takenAt: clock.now().toISOString() } as const
  const leader = await leaderOf(api, signal)
  return { ...head, serverVersion, installed, ...(leader !== undefined && { leader }), ...(lists as Lists) }
}

/** The pod is the first part of the identity on the Lease. Who may not read Leases gets a plan that does not know it. */
async function leaderOf(api: KubeApi, signal: AbortSignal): Promise<string | undefined> {
  try {
    const { items } = await api.list(leases, { fieldSelector: 'metadata.name=slipway-operator', limit: 2 }, signal)
    const [lease, second] = items
    return second ? undefined : lease?.spec.holderIdentity?.split('_')[0]
  } catch (error) {
    if (isKubeError(error, 'Forbidden')) return undefined
    throw error
  }
}

type Lists = Pick<ClusterSnapshot, SnapshotPart>

async function readPart(
  api: KubeApi,
  part: SnapshotPart,
  signal: AbortSignal,
): Promise<readonly KubeObject[] | 'forbidden' | 'unknown'> {
  const type = types[part]
  const items: KubeObject[] = []
  try {
    let token: { readonly continueToken?: string } = {}
    for (;;) {
      const page = await api.list(type, { limit: pageSize, ...token }, signal)
      for (const item of page.items) items.push(slim(part, item))
      if (page.continueToken === undefined) return items
      token = { continueToken: page.continueToken }
    }
  } catch (error) {
    if (isKubeError(error, 'Forbidden')) return 'forbidden'
    if (isKubeError(error, 'NotFound') && type.apiVersion === ours) return 'unknown'
    throw error
  }
}

function slim(part: SnapshotPart, object: KubeObject): KubeObject {
  const result = snapshotParts[part].safeParse(object)
  if (result.success) return result.data
  const { kind } = types[part]
  throw new SlipwayError('Internal', `${kind} ${object.metadata.name} cannot be read: ${shapeFaults(result.error)}`, {
    nextStep: 'are the program and the CRDs of one version? run: slipway install --print | kubectl apply -f -',
  })
}

/** What a file holds that `slipway snapshot` wrote. */
export function parseClusterSnapshot(text: string, path: string): ClusterSnapshot {
  const madeBy = 'slipway snapshot > cluster.json'
  return parseSaved({ schema: clusterSnapshotSchema, what: 'snapshot of a cluster', madeBy }, text, path)
}
