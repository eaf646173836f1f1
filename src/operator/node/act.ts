// The writes to a node and its NodeState. Each carries what was decided on (uid and resourceVersion): if anything changed
// since, the server refuses it and the node is looked at again. What the server answers is learned at once.

import type { HookRun } from '../../api/hook.ts'
import { type Node, nodes } from '../../api/kube.ts'
import { isKubeError } from '../../api/kube-error.ts'
import { type NodeState, nodeStates, type Order } from '../../api/node-state.ts'
import { isOwed } from '../../core/hooks/decide-hooks.ts'
import { equalJson, mergePatch } from '../../core/merge-patch.ts'
import { type NodeChange, puttingBackChange, takingChange } from '../../core/node/node-marks.ts'
import type { NodeAction } from '../../core/node/node-view.ts'
import { failedBefore, type PastFailure } from '../../core/node/order.ts'
import type { KubeApi } from '../../ports/kube-api.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { slimNode } from '../cluster/slim-node.ts'

const hooksFinalizer = 'slipway.dev/hooks'

export async function cordon(
  api: KubeApi,
  cluster: Cluster,
  node: Node,
  holder: string,
  signal: AbortSignal,
): Promise<void> {
  const leaves = cluster.policy?.spec.leaveLoadBalancers ?? false
  await changeNode(api, cluster, node, takingChange(node, holder, leaves), signal)
}

export async function uncordon(api: KubeApi, cluster: Cluster, node: Node, signal: AbortSignal): Promise<void> {
  await changeNode(api, cluster, node, puttingBackChange(node), signal)
}

async function changeNode(
  api: KubeApi,
  cluster: Cluster,
  node: Node,
  change: NodeChange,
  signal: AbortSignal,
): Promise<void> {
  const body = { ...change, metadata: { ...change.metadata, ...decidedOn(node) } }
  const written = await api.patch(nodes, { name: node.metadata.name }, { type: 'merge', body }, signal)
  cluster.nodes.learn(slimNode(written))
}

export async function setRollout(
  api: KubeApi,
  cluster: Cluster,
  state: NodeState,
  { rollout, completed }: Extract<NodeAction, { action: 'setRollout' }>,
  signal: AbortSignal,
): Promise<void> {
  const failed = failedBefore(state, rollout.operationID)
  const status = {
    rollout: mergePatch(state.status?.rollout, rollout),
    ...(completed && { completed }),
    ...failedPatch(state, failed),
  }
  await patchState(api, cluster, state, { status }, signal, 'status')
}

export async function setOrder(
  api: KubeApi,
  cluster: Cluster,
  state: NodeState,
  order: Order,
  signal: AbortSignal,
): Promise<void> {
  await patchState(api, cluster, state, { spec: { order: mergePatch(state.spec.order, order) } }, signal)
}

export async function setDrift(
  api: KubeApi,
  cluster: Cluster,
  state: NodeState,
  drift: NodeState['spec']['drift'],
  signal: AbortSignal,
): Promise<void> {
  await patchState(api, cluster, state, { spec: { drift: mergePatch(state.spec.drift, drift) ?? null } }, signal)
}

export async function clear(
  api: KubeApi,
  cluster: Cluster,
  state: NodeState,
  { remembers }: Extract<NodeAction, { action: 'clear' }>,
  signal: AbortSignal,
): Promise<void> {
  const emptied = state.spec.order ? await patchState(api, cluster, state, { spec: { order: null } }, signal) : state
  const status = { rollout: null, ...(remembers && failedPatch(state, failedBefore(state))) }
  await patchState(api, cluster, emptied, { status }, signal, 'status')
}

function failedPatch({ status }: NodeState, failed: readonly PastFailure[]): object {
  if (failed.length === 0 && !status?.failed) return {}
  return equalJson(failed, status?.failed) ? {} : { failed: failed.length > 0 ? failed : null }
}

/** A clean-up that is owed keeps the NodeState, even when its Node is deleted. */
export async function setHooks(
  api: KubeApi,
  cluster: Cluster,
  state: NodeState,
  runs: readonly HookRun[],
  signal: AbortSignal,
): Promise<void> {
  const others = (state.metadata.finalizers ?? []).filter((entry) => entry !== hooksFinalizer)
  const finalizers = isOwed(runs) ? [...others, hooksFinalizer] : others
  const metadata = { finalizers: finalizers.length > 0 ? finalizers : null }
  await patchState(api, cluster, state, { metadata, spec: { hooks: runs.length > 0 ? runs : null } }, signal)
}

export async function dropOrder(api: KubeApi, cluster: Cluster, state: NodeState, signal: AbortSignal): Promise<void> {
  await patchState(api, cluster, state, { spec: { order: null } }, signal)
}

/** A NodeState that is not tied to this very machine: of no node, or of one of the same name that is gone. */
export function isForeign(state: NodeState, node: Node): boolean {
  return !state.metadata.ownerReferences?.some(({ uid }) => uid === node.metadata.uid)
}

/** Makes the node's NodeState; ties one without an owner to its node; one of an earlier machine is removed first. */
export async function adoptState(
  api: KubeApi,
  cluster: Cluster,
  node: Node,
  state: NodeState | undefined,
  signal: AbortSignal,
): Promise<void> {
  const { name, uid } = node.metadata
  const ownerReferences = [{ apiVersion: nodes.apiVersion, kind: nodes.kind, name, uid }]
  if (state && (state.metadata.ownerReferences ?? []).length > 0) return removeState(api, state, signal)
  if (state) {
    await patchState(api, cluster, state, { metadata: { ownerReferences } }, signal)
    return
  }
  const { apiVersion, kind } = nodeStates
  try {
    cluster.states.learn(
      await api.create(nodeStates, { apiVersion, kind, metadata: { name, ownerReferences }, spec: {} }, signal),
    )
  } catch (error) {
    // The watch is behind; it will show the one that is there.
    if (!isKubeError(error, 'AlreadyExists')) throw error
  }
}

export async function removeState(api: KubeApi, state: NodeState, signal: AbortSignal): Promise<void> {
  if (state.metadata.deletionTimestamp !== undefined) return
  try {
    await api.delete(nodeStates, { name: state.metadata.name }, { uid: state.metadata.uid }, signal)
  } catch (error) {
    // Collected with its Node already.
    if (!isKubeError(error, 'NotFound', 'Conflict')) throw error
  }
}

export async function patchState(
  api: KubeApi,
  cluster: Cluster,
  state: NodeState,
  change: { readonly metadata?: object; readonly spec?: object; readonly status?: object },
  signal: AbortSignal,
  subResource?: 'status',
): Promise<NodeState> {
  const body = { ...change, metadata: { ...change.metadata, ...decidedOn(state) } }
  const written = await api.patch(
    nodeStates,
    { name: state.metadata.name },
    { type: 'merge', body },
    signal,
    subResource,
  )
  cluster.states.learn(written)
  return written
}

function decidedOn({ metadata }: Node | NodeState): { readonly uid: string; readonly resourceVersion: string } {
  return { uid: metadata.uid, resourceVersion: metadata.resourceVersion }
}
