// One node as the fleet shows it: one phase, one reason.

import type { NodeTile, TilePhase } from '../../api/console.ts'
import type { Node } from '../../api/kube.ts'
import type { NodeState, OperationKind } from '../../api/node-state.ts'
import type { Reason } from '../../api/reason.ts'
import { isInGoodOrder } from '../drain/in-good-order.ts'
import { isCordoned, isReady, roleOf } from '../node/node-facts.ts'
import { holdOf } from '../node/node-marks.ts'
import { runningStep } from '../node/running-step.ts'
import type { Standing } from '../update/standing.ts'
import { zoneOf } from '../update/turn-order.ts'

/** Where a node stands in the update that concerns it most. */
export interface Place {
  readonly update: string
  readonly standing: Standing
  /** Of the update's list of waves. */
  readonly wave?: number | undefined
  /** What the update says of a node it has not touched yet. */
  readonly reason?: Reason | undefined
}

/** The labels by which clusters name their pools, ours first. */
const poolLabels = [
  'slipway.dev/pool',
  'node.kubernetes.io/pool',
  'karpenter.sh/nodepool',
  'eks.amazonaws.com/nodegroup',
  'cloud.google.com/gke-nodepool',
  'kubernetes.azure.com/agentpool',
  'node-pool',
  'pool',
] as const

export function nodeTile(node: Node, state: NodeState | undefined, wanted: Place | undefined): NodeTile {
  const rollout = state?.status?.rollout
  const kind = rollout?.kind ?? 'DirectUpdate'
  const isAtWorkOrFailed = rollout !== undefined && rollout.phase !== 'Done'
  // What a profile or maintenance does there comes before an update that waits for the node.
  const place = kind !== 'DirectUpdate' && isAtWorkOrFailed ? undefined : wanted
  const isOfPlace = kind === 'DirectUpdate' && rollout !== undefined && rollout.update === place?.update
  const isOfRollout = rollout !== undefined && (place ? isOfPlace : isAtWorkOrFailed)
  const role = roleOf(node)
  const phase = phaseOf(node, isOfRollout ? rollout.phase : undefined, place)
  const isAtWork = phase === 'Assigned' || phase === 'Working'
  const step = isAtWork ? runningStep(state) : undefined
  const reason = isOfRollout ? (rollout.reason ?? rollout.drain?.pods[0]?.reason ?? place?.reason) : place?.reason
  const hold = holdOf(node)
  const told = phase === 'Done' || phase === 'Idle' || phase === 'Skipped' ? undefined : reason
  return {
    name: node.metadata.name,
    zone: zoneOf(node) || 'no zone',
    group: role === 'ControlPlane' ? role : poolOf(node),
    role,
    phase,
    ...(isOfRollout ? ownerOf(kind, rollout.update) : place && { update: place.update }),
    ...(place?.wave !== undefined && { wave: place.wave }),
    ...(isOfRollout && { since: rollout.since }),
    ...(told && { reason: told }),
    waits: told !== undefined && !isInGoodOrder(told),
    ...(step !== undefined && { step }),
    ...(hold !== undefined && { hold }),
    kubelet: node.status?.nodeInfo?.kubeletVersion ?? '',
  }
}

/** Maintenance is nobody's but the node's own. */
function ownerOf(kind: OperationKind, name: string): Pick<NodeTile, 'update' | 'profile'> {
  if (kind === 'DirectUpdate') return { update: name }
  return kind === 'NodeProfile' ? { profile: name } : {}
}

function phaseOf(node: Node, rollout: TilePhase | undefined, place: Place | undefined): TilePhase {
  if (rollout !== undefined && rollout !== 'Pending' && rollout !== 'Done') return rollout
  if (!isReady(node)) return 'NotReady'
  if (rollout === 'Done' && isCordoned(node)) return 'Cordoned'
  if (rollout !== undefined) return rollout
  switch (place?.standing) {
    case 'skipped':
      return 'Skipped'
    case 'done':
      return 'Done'
    case 'failed':
      return 'Failed'
    case 'attention':
      return 'RequiresAttention'
    case 'working':
    case 'waiting':
      return 'Pending'
    case undefined:
      return isCordoned(node) ? 'Cordoned' : 'Idle'
  }
}

function poolOf({ metadata }: Node): string {
  for (const label of poolLabels) {
    const value = metadata.labels?.[label]
    if (value) return value
  }
  return 'Worker'
}

/** Whether a page would show the same. */
export function isSameTile(a: NodeTile, b: NodeTile): boolean {
  return (
    a.phase === b.phase &&
    a.wave === b.wave &&
    a.update === b.update &&
    a.profile === b.profile &&
    a.since === b.since &&
    a.step === b.step &&
    a.hold === b.hold &&
    a.kubelet === b.kubelet &&
    a.zone === b.zone &&
    a.group === b.group &&
    a.reason?.code === b.reason?.code &&
    a.reason?.message === b.reason?.message &&
    a.reason?.nextCheck === b.reason?.nextCheck
  )
}
