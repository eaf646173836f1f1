// Rules 1, 3, 6, 7 and 10 on the writes to nodes and pods, and who may write which half of a NodeState.

import { cupcakeNodeMarks } from '../../api/cupcake.ts'
import type { DirectUpdate } from '../../api/direct-update.ts'
import type { Node, Pod } from '../../api/kube.ts'
import type { NodeState } from '../../api/node-state.ts'
import type { CommittedChange } from '../server/object-store.ts'
import { isAgent, isOperator, type Report, type Slack } from './rule.ts'
import { cordonMark, otherMarks, type Truth } from './truth.ts'

/** Spelt out: rules must not believe the code they judge. */
const housekeeperMark = 'slipway.dev/housekeeper'
const housekeeperPrefix = 'upgrade.housekeeper.io/'

export function judgeNode(change: CommittedChange, truth: Truth, _slack: Slack, report: Report): void {
  if (change.kind !== 'Node' || !change.before || !change.after || !isOperator(change.client)) return
  const before = change.before as Node
  const after = change.after as Node
  const { name, uid } = after.metadata
  const wasCordoned = before.spec.unschedulable === true
  const isCordoned = after.spec.unschedulable === true
  const holder = after.metadata.annotations?.[cordonMark]
  judgeMarks(before, after, report)
  if (!wasCordoned && isCordoned) {
    if (holder === undefined) report(6, `${name} was cordoned without our mark in the same write`)
    else if (!truth.grants.some((grant) => grant.node === name && grant.nodeUID === uid && grant.holder === holder)) {
      report(1, `${name} was cordoned for ${holder} without a slot in the ledger`)
    }
  }
  if (wasCordoned && !isCordoned) {
    if (before.metadata.annotations?.[cordonMark] === undefined)
      report(6, `the cordon of ${name} was a person's and was removed`)
    const rollout = truth.states.get(name)?.status?.rollout
    const update = rollout && truth.updates.get(rollout.update)
    const wanted =
      update !== undefined &&
      update.metadata.deletionTimestamp === undefined &&
      isPresent(update, rollout?.operationID) &&
      !isStartedAnew(update)
    const isAborted = rollout?.reason?.code === 'DrainAborted'
    if (wanted && rollout?.phase === 'Failed' && !isAborted) report(10, `${name} failed and was uncordoned`)
    const report_ = truth.states.get(name)?.status?.agent?.order
    const order = truth.states.get(name)?.spec.order
    if (
      order &&
      wanted &&
      rollout &&
      // Another's cordon may come and go over work that is only staged.
      before.metadata.annotations?.[cordonMark] === rollout.operationID &&
      order.id.startsWith(`${rollout.operationID}/`) &&
      report_?.id === order.id &&
      (report_.state === 'Running' || report_.state === 'Accepted')
    ) {
      report(5, `${name} was uncordoned while order ${order.id} is ${report_.state}`)
    }
  }
}

/** Marks of other systems that we write in their stead. */
const passedOn: ReadonlySet<string> = new Set(Object.values(cupcakeNodeMarks))

/** Rule 6 for what autoscalers, load balancers and other systems go by: only what our list or our mark names is taken off. */
function judgeMarks(before: Node, after: Node, report: Report): void {
  const ours = (before.metadata.annotations?.[otherMarks] ?? '').split(',')
  const isForHousekeeper = [before, after].some(({ metadata }) => metadata.annotations?.[housekeeperMark] !== undefined)
  for (const field of ['annotations', 'labels'] as const) {
    const kept = after.metadata[field] ?? {}
    for (const [key, value] of Object.entries(before.metadata[field] ?? {})) {
      if (key.startsWith('slipway.dev/') || key.startsWith('k8s.io/') || ours.includes(key)) continue
      if (passedOn.has(key)) continue
      if (isForHousekeeper && key.startsWith(housekeeperPrefix)) continue
      if (kept[key] !== value) report(6, `${key} of ${after.metadata.name} was not ours and was changed`)
    }
  }
}

/**
 * Rule 7: the operator asks for evictions. What it deletes itself is a violation, unless settings say Force and the NodeState
 * of the pod's node names that very pod.
 */
export function judgePods(change: CommittedChange, truth: Truth, _slack: Slack, report: Report): void {
  if (change.kind !== 'Pod' || change.type !== 'deleted' || !isOperator(change.client) || !change.before) return
  const pod = change.before as Pod
  const name = `${pod.metadata.namespace}/${pod.metadata.name}`
  if (isFinished(change)) return
  if (!truth.mayForce) report(7, `pod ${name} was deleted by force`)
  const told = truth.states.get(pod.spec.nodeName ?? '')?.status?.rollout?.drain?.pods ?? []
  if (!told.some((entry) => entry.pod === name && entry.state === 'Forced')) {
    report(7, `pod ${name} was deleted by force, and nothing tells of it`)
  }
}

export function judgeOwnership(change: CommittedChange, _truth: Truth, _slack: Slack, report: Report): void {
  if (change.kind !== 'NodeState' || change.type !== 'updated') return
  const before = change.before as NodeState
  const after = change.after as NodeState
  const { name } = after.metadata
  if (isOperator(change.client) && differs(before.status?.agent, after.status?.agent)) {
    report(11, `the operator wrote status.agent of ${name}`)
  }
  if (!isAgent(change.client)) return
  if (change.client.slice('agent/'.length).split('#')[0] !== name)
    report(11, `${change.client} wrote the NodeState of ${name}`)
  if (differs(before.spec, after.spec) || differs(before.status?.rollout, after.status?.rollout)) {
    report(11, `${change.client} wrote the operator's half of ${name}`)
  }
}

/** The store shares what a write leaves alone: mostly a glance is enough. */
function differs(before: unknown, after: unknown): boolean {
  return before !== after && JSON.stringify(before) !== JSON.stringify(after)
}

/** Edited after its end: what failed in the last operation is released for the next. */
function isStartedAnew({ metadata, status }: DirectUpdate): boolean {
  const over = status?.phase === 'Succeeded' || status?.phase === 'Failed'
  return over && status.observedGeneration !== metadata.generation
}

function isFinished({ before }: CommittedChange): boolean {
  const phase = (before as { status?: { phase?: string } } | undefined)?.status?.phase
  return phase === 'Succeeded' || phase === 'Failed' || phase === 'Pending'
}

/** Whether the update is at that operation: its run, or the step of its path that it has come to. */
function isPresent({ status }: DirectUpdate, id: string | undefined): boolean {
  const { operationID, path } = status ?? {}
  const steps = path?.steps?.length ?? 1
  return id !== undefined && id === (steps > 1 ? `${operationID}.${(path?.step ?? 0) + 1}` : operationID)
}
