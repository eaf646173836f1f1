// Where a node stands for an operation, by what the API says of it.

import type { Node } from '../../api/kube.ts'
import type { NodeState, Rollout } from '../../api/node-state.ts'
import type { Component, KubernetesWork } from '../../api/work.ts'
import { hasBooted } from '../image/resolved-image.ts'
import { roleOf } from '../node/node-facts.ts'
import { isPutBack } from '../node/node-marks.ts'
import { rollOutOf } from '../profile/operation-id.ts'
import { compareVersions } from '../version.ts'
import { componentsOf } from './drivers-for.ts'
import type { Operation } from './operation.ts'
import { isLastStep } from './path-step.ts'
import type { Counts } from './progress.ts'
import { isRetryDue } from './retry.ts'

export type Standing = keyof Counts

export interface StandingView {
  readonly operation: Operation
  /** Whether the operation holds the node's slot, in this turn or in an earlier one. */
  readonly held: boolean
  readonly isMember: (node: Node) => boolean
  /** Whether there is nothing to do on a node that is selected. */
  readonly isDone: (node: Node, state: NodeState | undefined) => boolean
  /** Nodes that joined later are none of it, where it is not for all that come. */
  readonly joinedByMs: number | undefined
}

/** Components whose version the cluster shows. */
const versioned: ReadonlySet<Component> = new Set(['kubeadm', 'kubelet', 'kubectl'])

/** Undefined: not a node of this operation. */
export function standingOf(node: Node, state: NodeState | undefined, view: StandingView): Standing | undefined {
  const { operation, held } = view
  const { name, creationTimestamp, deletionTimestamp } = node.metadata
  const rollout = state?.status?.rollout
  const isAgain = (one: Pick<Rollout, 'operationID' | 'phase' | 'retried'>) =>
    isRetryDue({ ...operation, id: one.operationID }, name, one)
  // Others brought it further. Taken, it would go back to a version on the way: what is missing there comes with the last step.
  const isPast = () => !isLastStep(operation.step) && isBeyond(operation, node, state)
  const waits = (): Standing => (isPast() ? 'skipped' : 'waiting')
  // It failed, a person has put it back and wants it left out: nobody has to look at it any more.
  const isLeftOut = () => operation.skip?.has(name) === true && !held && isPutBack(node)
  if (rollout && rollOutOf(rollout.operationID) === rollOutOf(operation.id)) {
    if (isAgain(rollout)) return held ? 'working' : 'waiting'
    switch (rollout.phase) {
      case 'Done':
        if (rollout.operationID === operation.id) return 'done'
        break
      case 'Failed':
        return isLeftOut() ? 'skipped' : 'failed'
      case 'RequiresAttention':
        return isLeftOut() ? 'skipped' : 'attention'
      case 'Staging':
      case 'Pending':
        break
      default:
        return 'working'
    }
  }
  if (held) return 'working'
  if (state?.status?.completed?.includes(operation.id)) return 'done'
  const failure = state?.status?.failed?.find((one) => rollOutOf(one.operationID) === rollOutOf(operation.id))
  if (failure) {
    if (isAgain(failure)) return waits()
    if (isLeftOut()) return 'skipped'
    // Nothing of the operation is under way there any more: once it is cancelled, nobody has to put anything right.
    return failure.phase === 'Failed' || operation.cancel !== undefined ? 'failed' : 'attention'
  }
  if (!view.isMember(node) || deletionTimestamp !== undefined) return undefined
  if (operation.skip?.has(name)) return 'skipped'
  // Creation instants carry whole seconds.
  if (view.joinedByMs !== undefined && Date.parse(creationTimestamp) > view.joinedByMs) return undefined
  return view.isDone(node, state) ? 'skipped' : waits()
}

/** Whether the node runs a newer version than it is to be brought to: another operation was faster. */
export function isBeyond({ work }: Pick<Operation, 'work'>, node: Node, state: NodeState | undefined): boolean {
  const { kubernetes } = work
  const target = kubernetes && targetOf(kubernetes)
  return (
    target !== undefined &&
    versionsOf(node, state).some((version) => version !== undefined && compareVersions(version, target) > 0)
  )
}

/** Whether the versions the cluster shows are those the operation is about; false where they cannot tell. */
export function isAtTarget(
  { work, osImage, step }: Pick<Operation, 'work' | 'osImage' | 'step'>,
  node: Node,
  state: NodeState | undefined,
): boolean {
  const { kubernetes, os, ...more } = work
  if (!(kubernetes || os) || Object.keys(more).length > 0) return false
  if (os) {
    // Of packages nothing here says that they are all there.
    if (os.image === undefined || os.packages !== undefined) return false
    if (!hasBooted(state?.status?.agent?.facts, os.image, osImage)) return false
  }
  if (!kubernetes) return true
  // Of runtimes and etcd the Kubernetes version says nothing: the hosts look for themselves.
  if (!componentsOf(kubernetes).every((component) => versioned.has(component))) return false
  const target = targetOf(kubernetes)
  // On the way it is enough to be further on already.
  const isThere = (version: string) => (isLastStep(step) ? version === target : compareVersions(version, target) >= 0)
  return versionsOf(node, state).every((version) => version !== undefined && isThere(version))
}

function targetOf({ version }: KubernetesWork): string {
  return version.startsWith('v') ? version : `v${version}`
}

/** Of the kubelet, and of the API server where there is one. */
function versionsOf(node: Node, state: NodeState | undefined): readonly (string | undefined)[] {
  const facts = state?.status?.agent?.facts
  return [node.status?.nodeInfo?.kubeletVersion, ...(roleOf(node) === 'ControlPlane' && facts ? [facts.apiServer] : [])]
}
