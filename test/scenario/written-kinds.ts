// What a committed write of the operator was, by its effect: the kinds of writes it may die at.

import type { DirectUpdate } from '../../src/api/direct-update.ts'
import type { Node } from '../../src/api/kube.ts'
import type { NodeState } from '../../src/api/node-state.ts'
import { equalJson } from '../../src/core/merge-patch.ts'
import type { CommittedChange } from '../../src/sim/server/object-store.ts'

export function writtenKind(change: CommittedChange): string {
  const { kind, type, before, after } = change
  if (type !== 'updated' || !before || !after) return `${type} ${kind}`
  switch (kind) {
    case 'MaintenancePolicy':
      return 'ledger'
    case 'Node':
      return (after as Node).spec.unschedulable ? 'cordon' : 'uncordon'
    case 'NodeState': {
      const [was, is] = [(before as NodeState).spec, (after as NodeState).spec]
      if (!equalJson(was.controlPlane, is.controlPlane)) return 'question'
      return equalJson(was, is) ? 'rollout' : 'order'
    }
    case 'DirectUpdate':
      return equalJson((before as DirectUpdate).metadata.finalizers, (after as DirectUpdate).metadata.finalizers)
        ? 'status'
        : 'finalizer'
    default:
      return `${type} ${kind}`
  }
}
