// What people do with kubectl in a crowded history who think of something else than the update. Most of it they undo after a while.

import { nodes } from '../../api/kube.ts'
import { maintenancePolicies, policyName } from '../../api/maintenance-policy.ts'
import { type NodeProfileSpec, nodeProfiles } from '../../api/node-profile.ts'
import { nodeStates } from '../../api/node-state.ts'
import type { CrowdVisit } from './fault-crowd.ts'
import { type Hands, patchNode, patchPolicy } from './fault-hands.ts'

/** Undoes it; says whether it could. Undefined where there is nothing to undo. */
export type Undo = (() => Promise<boolean>) | undefined

const profile = 'base'
const passing = { path: '/etc/issue', content: 'passing through\n' }

export async function visit({ what, node }: CrowdVisit, options: Hands): Promise<Undo> {
  switch (what) {
    case 'relabel':
      return relabel(node, options)
    case 'uncordon':
      await patchNode(node, { spec: { unschedulable: null } }, options)
      return undefined
    case 'delete-state':
      if (options.cluster.server.peek(nodeStates, { name: node }))
        await options.api.delete(nodeStates, { name: node }, {}, options.signal)
      return undefined
    case 'edit-profile':
      return editProfile(options)
    case 'replace-profile':
      return replaceProfile(options)
    case 'tighten':
      return tighten(options)
  }
}

/** Into the pool that shares a budget, or out of it. */
async function relabel(name: string, options: Hands): Promise<Undo> {
  const pool = options.cluster.server.peek(nodes, { name })?.metadata.labels?.pool ?? null
  await patchNode(name, { metadata: { labels: { pool: pool === null ? 'a' : null } } }, options)
  return async () => {
    await patchNode(name, { metadata: { labels: { pool } } }, options)
    return true
  }
}

/** One file more, for a while. */
async function editProfile(options: Hands): Promise<Undo> {
  const files = options.cluster.server.peek(nodeProfiles, { name: profile })?.spec.files
  if (!files) return undefined
  await patchProfile({ files: [...files, passing] }, options)
  return async () => {
    await patchProfile({ files }, options)
    return true
  }
}

/** Deleted, and wanted again as it was. */
async function replaceProfile({ cluster, api, signal }: Hands): Promise<Undo> {
  const spec = cluster.server.peek(nodeProfiles, { name: profile })?.spec
  if (!spec) return undefined
  await api.delete(nodeProfiles, { name: profile }, {}, signal)
  return async () => {
    if (cluster.server.peek(nodeProfiles, { name: profile })) return false
    await api.create(nodeProfiles, { metadata: { name: profile }, spec }, signal)
    return true
  }
}

/** One node at a time in the whole cluster. */
async function tighten(options: Hands): Promise<Undo> {
  const policy = options.cluster.server.peek(maintenancePolicies, { name: policyName })
  if (!policy) return undefined
  await patchPolicy({ budgets: [{ maxUnavailable: 1 }] }, options)
  return async () => {
    await patchPolicy({ budgets: policy.spec?.budgets ?? null }, options)
    return true
  }
}

async function patchProfile(spec: Partial<NodeProfileSpec>, { cluster, api, signal }: Hands): Promise<void> {
  if (cluster.server.peek(nodeProfiles, { name: profile }))
    await api.patch(nodeProfiles, { name: profile }, { type: 'merge', body: { spec } }, signal)
}
