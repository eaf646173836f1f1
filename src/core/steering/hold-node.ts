// A person keeps a node for themselves, or gives it back: what is written on the Node for it. The right to patch nodes is enough.

import { type Hold, holdAnnotation, releasedAnnotation } from '../../api/hold.ts'
import type { Node } from '../../api/kube.ts'
import type { NodeState, Rollout } from '../../api/node-state.ts'
import { releaseWord } from '../node/leave-undrained.ts'
import { cordonOwner, isCordoned } from '../node/node-facts.ts'
import { holdOf, isMarked, marksAnnotation, puttingBackChange } from '../node/node-marks.ts'
import { hasStopped, isStuck } from '../node/order.ts'
import { profileRunOf } from '../profile/operation-id.ts'

export function holdingPatch(hold: Hold): Readonly<Record<string, unknown>> {
  return { metadata: { annotations: { [holdAnnotation]: JSON.stringify(hold) } } }
}

/** Carries what it was decided on; undefined where nothing of ours and no hold is on the node, and none of its slots is kept. */
export function releasingPatch(
  node: Node,
  state: NodeState | undefined,
): Readonly<Record<string, unknown>> | undefined {
  const { uid, resourceVersion, annotations = {} } = node.metadata
  const isHeld = annotations[holdAnnotation] !== undefined
  const failed = failedAtWork(node, state)
  const word = failed && { [releasedAnnotation]: releaseWord(failed) }
  if (!isHeld && !isMarked(node)) return word && { metadata: { uid, resourceVersion, annotations: word } }
  const { [holdAnnotation]: _hold, ...others } = annotations
  const change = puttingBackChange({ ...node, metadata: { ...node.metadata, annotations: others } })
  const changed = { ...change.metadata.annotations, ...(isHeld && { [holdAnnotation]: null }), ...word }
  return { ...change, metadata: { ...change.metadata, annotations: changed, uid, resourceVersion } }
}

/** A profile that disturbs nobody failed there: there is no cordon to take off, only a slot to give back. */
function failedAtWork(node: Node, state: NodeState | undefined): Rollout | undefined {
  const rollout = state?.status?.rollout
  const isKept = rollout?.phase === 'Failed' && rollout.cordon !== undefined && !isMarked(node)
  return isKept && profileRunOf(rollout.operationID)?.drain === false ? rollout : undefined
}

/** Why the node may still be under work; undefined where it is not. */
export function workDoubt(name: string, state: NodeState | undefined): string | undefined {
  const order = state?.spec.order
  // One that is stuck does nothing, and the operator withdraws its order before it gives the slot back.
  if (!state || !order || hasStopped(order, state) || isStuck(order, state)) return undefined
  const report = state.status?.agent?.order
  const step = report?.id === order.id ? report.steps.find((entry) => entry.state === 'Running')?.name : undefined
  const at = step === undefined ? '' : `, at step ${step}`
  const said = report?.id === order.id ? `its agent says ${report.state}${at}` : 'its agent has not answered yet'
  return `order ${order.id} may still run on ${name}: ${said}`
}

/** In sentences, from the node as it was before. */
export function whatWasReleased(before: Node, state: NodeState | undefined): readonly string[] {
  const hold = holdOf(before)
  const owner = cordonOwner(before)
  const marks = (before.metadata.annotations?.[marksAnnotation] ?? '').split(',').filter((key) => key !== '')
  const failed = failedAtWork(before, state)
  const lines = [
    ...(hold === undefined ? [] : [`the hold has ended (${hold})`]),
    ...(owner === undefined ? [] : [`uncordoned (it was cordoned for ${owner})`]),
    ...(marks.length === 0 ? [] : [`took off ${marks.join(', ')}`]),
    ...(failed === undefined
      ? []
      : [
          `its slot is given back; that NodeProfile ${failed.update} failed there stands until it is retried or changed`,
        ]),
    ...(owner === undefined && isCordoned(before)
      ? ['stays cordoned: that is a person’s; kubectl uncordon ends it']
      : []),
  ]
  return lines.length > 0 ? lines : ['nothing of Slipway is on it']
}
