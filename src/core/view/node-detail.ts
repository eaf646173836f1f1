// One node in full: the phases it went through and has before it, its steps, what holds its drain up.

import type { NodeDetail, NodeTile } from '../../api/console.ts'
import type { Node } from '../../api/kube.ts'
import { type NodeState, nodePhases } from '../../api/node-state.ts'
import { cordonHolder } from '../node/cordon-holder.ts'
import { isReady, readyCondition } from '../node/node-facts.ts'
import { holdOf } from '../node/node-marks.ts'
import { isRolledBack } from '../node/rolled-back.ts'

const usualLife = ['Pending', 'Staging', 'Draining', 'Assigned', 'Working', 'Verifying', 'Done'] as const

export function nodeDetail(tile: NodeTile, node: Node, state: NodeState | undefined): NodeDetail {
  const rollout = state?.status?.rollout
  const cordonedBy = cordonHolder(node)
  const order = state?.status?.agent?.order
  const isOfOrder = order !== undefined && (!rollout || order.id.startsWith(rollout.operationID))
  return {
    tile,
    life: lifeOf(state),
    steps: isOfOrder
      ? order.steps.map(({ name, state: at, startedAt, finishedAt, reason }) => ({
          name,
          state: at,
          ...(startedAt !== undefined && { startedAt }),
          ...(finishedAt !== undefined && { finishedAt }),
          ...(reason && { reason }),
        }))
      : [],
    ...(rollout?.drain && { drain: rollout.drain }),
    facts: factsOf(node, state),
    ...(cordonedBy !== undefined && { cordonedBy }),
    command: `slipway why ${tile.name}`,
  }
}

/** What is known of when: the present phase, the order's beginning and its end. */
function lifeOf(state: NodeState | undefined): NodeDetail['life'] {
  const rollout = state?.status?.rollout
  if (!rollout) return usualLife.map((phase) => ({ phase, state: 'Next' }))
  const order = state.status?.agent?.order
  const accepted = order?.id.startsWith(rollout.operationID) ? order.acceptedAt : undefined
  const isBroken = rollout.phase === 'Failed' || rollout.phase === 'RequiresAttention'
  const present = isBroken ? brokenAt(state) : usualLife.indexOf(rollout.phase as (typeof usualLife)[number])
  const life: NodeDetail['life'][number][] = usualLife.map((phase, at) => {
    const known = phase === rollout.phase ? rollout.since : phase === 'Assigned' ? accepted : undefined
    const standing = at < present || rollout.phase === 'Done' ? 'Done' : at === present && !isBroken ? 'Now' : 'Next'
    return { phase, ...(known !== undefined && standing !== 'Next' && { at: known }), state: standing }
  })
  if (!isBroken) return life
  const undone: NodeDetail['life'] = isRolledBack(state)
    ? [{ phase: 'RolledBack', ...(order?.finishedAt !== undefined && { at: order.finishedAt }), state: 'Done' }]
    : []
  const broken: NodeDetail['life'] = [...undone, { phase: rollout.phase, at: rollout.since, state: 'Now' }]
  return [...life.slice(0, present), ...broken, ...life.slice(present)]
}

/** The phase in which it stopped. */
function brokenAt({ status }: NodeState): number {
  if (status?.agent?.order?.steps.some(({ state }) => state === 'Failed')) return usualLife.indexOf('Working') + 1
  return status?.rollout?.drain ? usualLife.indexOf('Draining') + 1 : nodePhases.indexOf('Staging') + 1
}

function factsOf(node: Node, state: NodeState | undefined): NodeDetail['facts'] {
  const agent = state?.status?.agent
  const facts = agent?.facts
  const hold = holdOf(node)
  const values: readonly (readonly [string, string | undefined])[] = [
    ['kubelet', node.status?.nodeInfo?.kubeletVersion],
    ['operating system', facts?.os],
    ['kernel', facts?.kernel],
    ['architecture', facts?.architecture],
    ['container runtime', facts?.runtime ?? node.status?.nodeInfo?.containerRuntimeVersion],
    ['API server', facts?.apiServer],
    ['etcd', facts?.etcd],
    ['image', facts?.osImage && `${facts.osImage.image}@${facts.osImage.digest}`],
    ['reboot required', facts?.rebootRequired],
    ['certificates expire', facts?.certificatesExpireAt],
    ['authorities expire', facts?.authoritiesExpireAt],
    ['agent', agent?.version],
    ['on hold', hold],
    ['not Ready', isReady(node) ? undefined : (readyCondition(node)?.message ?? 'its kubelet has not reported')],
  ]
  return values.flatMap(([name, value]) => (value ? [{ name, value }] : []))
}
