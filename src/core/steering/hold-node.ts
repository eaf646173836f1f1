// A person keeps a node for themselves, or gives it back: what is written on the Node for it. The right to patch nodes is enough.

import { type Hold, holdAnnotation, releasedAnnotation } from '../../api/hold.ts'
import type { Node } from '../../api/kube.ts'
import type { NodeState, Rollout } from '../../api/node-state.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import { releaseWord } from '../node/leave-undrained.ts'
import { cordonOwner, isCordoned } from '../node/node-facts.ts'
import { holdOf, isMarked, marksAnnotation, puttingBackChange } from '../node/node-marks.ts'
import { hasStopped, isStuck } from '../node/order.ts'
import { profileRunOf } from '../profile/operation-id.ts'
import { rolloutOwner } from '../update/work-owner.ts'

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

export interface Release {
  /** Undefined where nothing is to be written. */
  readonly body: Readonly<Record<string, unknown>> | undefined
  /** In sentences. */
  readonly said: readonly string[]
  readonly warning?: string | undefined
}

/** What to write, and what to say; throws where it makes no sense, unless a person wants it all the same. */
export function release(node: Node, state: NodeState | undefined, doubt?: WorkDoubt, isForced = false): Release {
  if (!doubt || isForced || !isMarked(node))
    return { body: releasingPatch(node, state), said: whatWasReleased(node, state), warning: doubt?.forced }
  const hold = holdOf(node)
  // Without the NodeState nobody can tell who would take off the rest.
  if (hold === undefined || !state) throw new SlipwayError('Refused', doubt.message, { nextStep: doubt.nextStep })
  // What is under way may last for hours, and a person may change their mind: they take their word back, the rest is the operator's.
  const { uid, resourceVersion } = node.metadata
  return {
    body: { metadata: { uid, resourceVersion, annotations: { [holdAnnotation]: null } } },
    said: [`the hold has ended (${hold})`, `else it stays as it is: ${doubt.message}`],
  }
}

/** Why it makes no sense to put the node back now, and what may be done instead. */
export interface WorkDoubt {
  readonly message: string
  readonly nextStep: string
  /** What becomes of a node that is put back all the same. */
  readonly forced: string
}

/** Why the node may still be under work; undefined where it is not. */
export function workDoubt(name: string, state: NodeState | undefined): WorkDoubt | undefined {
  const message = state && orderDoubt(name, state)
  if (message === undefined) return state && drainDoubt(name, state)
  const nextStep = `wait for it, or delete its update; slipway release ${name} --force puts the node back all the same`
  return { message, nextStep, forced: message }
}

/** Nothing is done on it yet, but its slot is booked for that: whoever uncordons it finds it cordoned again at once. */
function drainDoubt(name: string, { status }: NodeState): WorkDoubt | undefined {
  const { rollout } = status ?? {}
  const isPending = rollout?.phase === 'Pending' && rollout.takenAt !== undefined
  if (!rollout || !(isPending || rollout.phase === 'Draining')) return undefined
  const owner = rolloutOwner(rollout)
  const message = `${name} is ${isPending ? 'about to be' : 'being'} drained for ${owner}`
  const taken = 'an operator that runs takes it again at once'
  return {
    message,
    nextStep: `${endingOf(rollout)}; slipway release ${name} --force uncordons it all the same, but ${taken}`,
    forced: `${message}: ${taken}`,
  }
}

function endingOf({ kind, update }: Rollout): string {
  if (kind === 'Maintenance') return 'wait for it: the node is put back when its maintenance is done'
  if (kind === 'NodeProfile') return `changing or deleting NodeProfile ${update} ends that`
  return `slipway cancel ${update} ends that, and so does deleting it`
}

function orderDoubt(name: string, state: NodeState): string | undefined {
  const { order } = state.spec
  // One that is stuck does nothing, and the operator withdraws its order before it gives the slot back.
  if (!order || hasStopped(order, state) || isStuck(order, state)) return undefined
  const report = state.status?.agent?.order
  const step = report?.id === order.id ? report.steps.find((entry) => entry.state === 'Running')?.name : undefined
  const at = step === undefined ? '' : `, at step ${step}`
  const said = report?.id === order.id ? `its agent says ${report.state}${at}` : 'its agent has not answered yet'
  return `order ${order.id} may still run on ${name}: ${said}`
}

/** From the node as it was before. */
function whatWasReleased(before: Node, state: NodeState | undefined): readonly string[] {
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
