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
  type Pod,
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
  type SnapshotPart,
  snapshotHeadSchema,
  snapshotParts,
  snapshotVersion,
} from '../api/snapshot.ts'
import { shapeFaults } from '../core/shape-faults.ts'
import type { Clock } from '../ports/clock.ts'
import type { KubeApi } from '../ports/kube-api.ts'
import { readPieces } from './json-pieces.ts'
import { savedFault } from './saved-file.ts'
import { SharedParts } from './shared-parts.ts'

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
  const shared = new SharedParts()
  for (const part of Object.keys(types) as SnapshotPart[]) {
    const found = await readPart(api, part, shared, signal)
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
  shared: SharedParts,
  signal: AbortSignal,
): Promise<readonly KubeObject[] | 'forbidden' | 'unknown'> {
  const type = types[part]
  const items: KubeObject[] = []
  try {
    let token: { readonly continueToken?: string } = {}
    for (;;) {
      const page = await api.list(type, { limit: pageSize, ...token }, signal)
      for (const item of page.items) items.push(slim(part, item, shared))
      if (page.continueToken === undefined) return items
      token = { continueToken: page.continueToken }
    }
  } catch (error) {
    if (isKubeError(error, 'Forbidden')) return 'forbidden'
    if (isKubeError(error, 'NotFound') && type.apiVersion === ours) return 'unknown'
    throw error
  }
}

function slim(part: SnapshotPart, object: KubeObject, shared: SharedParts): KubeObject {
  const result = snapshotParts[part].safeParse(object)
  if (result.success) return sparing(part, result.data, shared)
  const { kind } = types[part]
  throw new SlipwayError('Internal', `${kind} ${object.metadata.name} cannot be read: ${shapeFaults(result.error)}`, {
    nextStep: 'are the program and the CRDs of one version? run: slipway install',
  })
}

function sparing(part: SnapshotPart, object: KubeObject, shared: SharedParts): KubeObject {
  return part === 'pods' ? shared.pod(object as Pod) : object
}

const saved = { what: 'snapshot of a cluster', madeBy: 'slipway snapshot > cluster.json' }

/** What a file holds that `slipway snapshot` wrote. */
export function parseClusterSnapshot(text: string, path: string): ClusterSnapshot {
  const shared = new SharedParts()
  const read = (): Record<string, unknown> => {
    try {
      return readPieces(text, ({ key, index, value }) => {
        if (!isPart(key) || index === undefined) return value
        const result = snapshotParts[key].safeParse(value)
        if (result.success) return sparing(key, result.data, shared)
        const issues = result.error.issues.slice(0, 3).map((issue) => ({ ...issue, path: [key, index, ...issue.path] }))
        throw savedFault(saved, path, shapeFaults({ issues }))
      })
    } catch (cause) {
      throw cause instanceof SyntaxError ? savedFault(saved, path, 'it is not JSON', cause) : cause
    }
  }
  const found: Record<string, unknown> & Partial<Lists> = read()
  const head = snapshotHeadSchema.safeParse(found)
  if (!head.success) throw savedFault(saved, path, shapeFaults({ issues: head.error.issues.slice(0, 3) }))
  const missing = Object.keys(types).find((part) => !Array.isArray(found[part]))
  if (missing !== undefined) throw savedFault(saved, path, `${missing}: a list is expected`)
  return { ...(found as Lists), ...head.data }
}

function isPart(key: string): key is SnapshotPart {
  return Object.hasOwn(types, key)
}
