// One node as Slipway sees it, from its Node and its NodeState.

import type { Node } from '../api/kube.ts'
import type { NodePhase, NodeState } from '../api/node-state.ts'
import type { Reason } from '../api/reason.ts'
import { isControlPlane, isReady } from './node-role.ts'
import { runningStep } from './progress/view.ts'

export const cordonAnnotation = 'slipway.dev/cordon'

export interface NodeReport {
  readonly name: string
  readonly role: 'ControlPlane' | 'Worker'
  readonly ready: boolean
  /** Who took it out of scheduling; absent = it is schedulable. */
  readonly cordonedBy?: string
  readonly kubelet?: string
  readonly agent?: string
  readonly update?: string
  readonly phase?: NodePhase
  readonly since?: string
  readonly step?: string
  readonly reason?: Reason
}

export function nodeReport(node: Node, state: NodeState | undefined): NodeReport {
  const rollout = state?.status?.rollout
  const cordonedBy = cordonHolder(node, state)
  const kubelet = node.status?.nodeInfo?.kubeletVersion
  const agent = state?.status?.agent?.version
  const step = runningStep(state)
  const reason = rollout?.reason ?? rollout?.drain?.pods[0]?.reason
  return {
    name: node.metadata.name,
    role: isControlPlane(node) ? 'ControlPlane' : 'Worker',
    ready: isReady(node),
    ...(cordonedBy !== undefined && { cordonedBy }),
    ...(kubelet !== undefined && { kubelet }),
    ...(agent !== undefined && { agent }),
    ...(rollout && { update: rollout.update, phase: rollout.phase, since: rollout.since }),
    ...(step !== undefined && { step }),
    ...(reason && { reason }),
  }
}

/** A cordon without our annotation is a person's. */
export function cordonHolder(node: Node, state: NodeState | undefined): string | undefined {
  if (!node.spec.unschedulable) return undefined
  const operation = node.metadata.annotations?.[cordonAnnotation]
  if (operation === undefined) return 'a person'
  const rollout = state?.status?.rollout
  return rollout?.operationID === operation ? `update ${rollout.update}` : `operation ${operation}`
}
