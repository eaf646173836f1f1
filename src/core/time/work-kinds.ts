// Of which kinds an operation's work is, for the windows that speak of some of them only.

import type { WorkKind } from '../../api/window.ts'
import type { Work } from '../../api/work.ts'
import type { Operation } from '../update/operation.ts'

export function workKindsOf({ kind, work }: Pick<Operation, 'kind' | 'work'>): readonly WorkKind[] {
  if (kind === undefined) return ['Update']
  if (kind === 'NodeProfile') return ['Profile']
  const { maintenance, reboot } = partsOf(work)
  return [...(maintenance ? (['Maintenance'] as const) : []), ...(reboot ? (['Reboot'] as const) : [])]
}

/**
 * What of a node's wishes may be done now. One drain serves all that waits, but what has no window now must not keep the rest
 * from its own, nor slip in with it: a reboot that the rest may come to need, neither.
 */
export function openPartOf(work: Work, isOpen: (kind: WorkKind) => boolean): Work {
  const parts = partsOf(work)
  const { reboot, jobs, maintenance, ...rest } = work
  if (!parts.maintenance || reboot === undefined) return work
  if (!isOpen('Reboot')) return { ...work, reboot: 'Never' }
  return parts.reboot && !isOpen('Maintenance') ? { ...rest, reboot } : work
}

function partsOf({ jobs, maintenance, reboot }: Work): { readonly maintenance: boolean; readonly reboot: boolean } {
  return { maintenance: jobs !== undefined || maintenance !== undefined, reboot: reboot === 'Always' }
}
