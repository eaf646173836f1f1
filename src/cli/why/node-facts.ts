import type { DirectUpdate } from '../../api/direct-update.ts'
import type { Node } from '../../api/kube.ts'
import type { MaintenancePolicy } from '../../api/maintenance-policy.ts'
import type { NodeProfile } from '../../api/node-profile.ts'
import type { NodeState } from '../../api/node-state.ts'

export interface NodeFacts {
  readonly node: Node
  readonly state: NodeState | undefined
  readonly policy: MaintenancePolicy | undefined
  /** Updates that concern this node, ended or not. */
  readonly updates: readonly DirectUpdate[]
  readonly profiles: readonly NodeProfile[]
}
