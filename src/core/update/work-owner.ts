// Whose work a node is taken for, in the words of every sentence: an update, a profile, or its own maintenance.

import type { Rollout } from '../../api/node-state.ts'
import { maintenancePrefix } from '../maintenance/wish.ts'
import { profileRunOf } from '../profile/operation-id.ts'
import { ownerOfOperation } from './operation.ts'

export function rolloutOwner({ kind, update }: Pick<Rollout, 'kind' | 'update'>): string {
  if (kind === 'Maintenance') return 'its own maintenance'
  return kind === 'NodeProfile' ? `NodeProfile ${update}` : `update ${update}`
}

/** By the id of an operation, as slots and cordons carry it. */
export function operationOwner(id: string): string {
  const profile = profileRunOf(id)
  if (profile) return rolloutOwner({ kind: 'NodeProfile', update: profile.profile })
  const kind = id.startsWith(maintenancePrefix) ? 'Maintenance' : 'DirectUpdate'
  return rolloutOwner({ kind, update: ownerOfOperation(id) })
}
