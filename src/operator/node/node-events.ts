import { directUpdates } from '../../api/direct-update.ts'
import type { HookRun } from '../../api/hook.ts'
import type { Node, ObjectReference } from '../../api/kube.ts'
import { nodes, pods } from '../../api/kube.ts'
import type { Rollout } from '../../api/node-state.ts'
import type { ReasonCode } from '../../api/reason.ts'
import { isInGoodOrder } from '../../core/drain/in-good-order.ts'
import { cordonOwner, isCordoned } from '../../core/node/node-facts.ts'

export interface NodeEvent {
  readonly regarding: ObjectReference
  readonly related: ObjectReference
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly action: string
  readonly note: string
}

const forcing = new Set<ReasonCode | undefined>(['PodForced', 'PodRemoved'])

/**
 * What `kubectl describe node` should tell: that it was taken, put back, or why it is stuck, and each pod that is deleted by
 * force. Other phases are in NodeState.
 */
export function eventsOf(node: Node, before: Rollout | undefined, after: Rollout): readonly NodeEvent[] {
  const change = phaseEvent(node, before, after)
  const known = before?.drain?.pods ?? []
  const forced = (after.drain?.pods ?? []).filter(
    ({ pod, reason }) =>
      forcing.has(reason.code) && !known.some((old) => old.pod === pod && old.reason.code === reason.code),
  )
  return [
    ...(change && !forcing.has(after.reason?.code) ? [change] : []),
    ...forced.map(({ pod, reason }): NodeEvent => {
      const [namespace = '', name = ''] = pod.split('/')
      return {
        regarding: reference(nodes, node.metadata),
        related: { apiVersion: pods.apiVersion, kind: pods.kind, namespace, name },
        type: 'Warning',
        reason: reason.code,
        action: 'Drain',
        note: reason.message.slice(0, 1000),
      }
    }),
  ]
}

function phaseEvent(node: Node, before: Rollout | undefined, after: Rollout): NodeEvent | undefined {
  const say = (type: NodeEvent['type'], reason: string, action: string, note: string): NodeEvent => ({
    regarding: reference(nodes, node.metadata),
    related: { apiVersion: directUpdates.apiVersion, kind: directUpdates.kind, name: after.update },
    type,
    reason,
    action,
    note: note.slice(0, 1000),
  })
  const isNew = before?.phase !== after.phase || before.operationID !== after.operationID
  switch (after.phase) {
    case 'Draining':
      if (isNew) return say('Normal', 'NodeTaken', 'Drain', `cordoned and draining for DirectUpdate ${after.update}`)
      if (after.reason && after.reason.code !== before?.reason?.code && !isInGoodOrder(after.reason)) {
        return say('Warning', after.reason.code, 'Drain', after.reason.message)
      }
      return undefined
    case 'Done':
      if (isNew && hasLostMark(node, after)) {
        const { name } = node.metadata
        const note = `somebody took our mark off the cordon of ${name}, so it counts as a person’s and stays; kubectl uncordon ${name} ends it`
        return say('Warning', 'CordonMarkLost', 'Uncordon', note)
      }
      return isNew ? say('Normal', 'NodeDone', 'Uncordon', `done for DirectUpdate ${after.update}`) : undefined
    case 'Failed':
    case 'RequiresAttention':
      return isNew && after.reason ? say('Warning', after.reason.code, 'Work', after.reason.message) : undefined
    default:
      return undefined
  }
}

type HookEvent = Omit<NodeEvent, 'related'>

/** A hook that failed, and a clean-up that did: somebody may have to undo something by hand. */
export function hookEvents(node: string, before: HookRun | undefined, after: HookRun): readonly HookEvent[] {
  const regarding = { apiVersion: nodes.apiVersion, kind: nodes.kind, name: node }
  const say = (reason: HookRun['reason']): readonly HookEvent[] =>
    reason
      ? [{ regarding, type: 'Warning', reason: reason.code, action: 'Hook', note: reason.message.slice(0, 1000) }]
      : []
  return [
    ...(after.state !== before?.state ? say(after.reason) : []),
    ...(after.cleanup?.state !== before?.cleanup?.state ? say(after.cleanup?.reason) : []),
  ]
}

/** We cordoned it, and it still is, but nothing says so any more. */
function hasLostMark(node: Node, { cordon }: Rollout): boolean {
  return cordon?.prior === 'Schedulable' && isCordoned(node) && cordonOwner(node) === undefined
}

function reference(
  type: { apiVersion: string; kind: string },
  { name, uid }: { name: string; uid: string },
): ObjectReference {
  return { apiVersion: type.apiVersion, kind: type.kind, name, uid }
}
