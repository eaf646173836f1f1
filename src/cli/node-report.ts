// One node as Slipway sees it, from its Node and its NodeState.

import type { Node } from '../api/kube.ts'
import type { NodePhase, NodeState } from '../api/node-state.ts'
import type { Reason } from '../api/reason.ts'
import { cordonHolder } from '../core/node/cordon-holder.ts'
import { isReady, type Role, roleOf } from '../core/node/node-facts.ts'
import { isRolledBack } from '../core/node/rolled-back.ts'
import { runningStep } from '../core/node/running-step.ts'

export interface NodeReport {
  readonly name: string
  readonly role: Role
  readonly ready: boolean
  /** Who took it out of scheduling; absent = it is schedulable. */
  readonly cordonedBy?: string
  readonly kubelet?: string
  readonly agent?: string
  /** The name of what the node is, or was last, taken for: of a DirectUpdate, unless `kind` says otherwise. */
  readonly update?: string
  readonly kind?: 'NodeProfile' | 'Maintenance'
  readonly phase?: NodePhase
  readonly since?: string
  readonly step?: string
  readonly reason?: Reason
  /** Its work failed, and what that had done was undone. */
  readonly rolledBack?: true
}

export function nodeReport(node: Node, state: NodeState | undefined): NodeReport {
  const rollout = state?.status?.rollout
  const cordonedBy = cordonHolder(node)
  const kubelet = node.status?.nodeInfo?.kubeletVersion
  const agent = state?.status?.agent?.version
  const step = runningStep(state)
  const reason = rollout?.reason ?? rollout?.drain?.pods[0]?.reason
  return {
    name: node.metadata.name,
    role: roleOf(node),
    ready: isReady(node),
    ...(cordonedBy !== undefined && { cordonedBy }),
    ...(kubelet !== undefined && { kubelet }),
    ...(agent !== undefined && { agent }),
    ...(rollout && { update: rollout.update, phase: rollout.phase, since: rollout.since }),
    ...(rollout?.kind && rollout.kind !== 'DirectUpdate' && { kind: rollout.kind }),
    ...(step !== undefined && { step }),
    ...(reason && { reason }),
    ...(isRolledBack(state) && { rolledBack: true }),
  }
}
