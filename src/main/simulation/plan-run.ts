// One rehearsal of an update on a loaded cluster: the real operator and agents to the end, in virtual time. Where a drain is
// blocked until its time is up, that is noted, the pods in its way are removed as a person would, and it goes on: so one run finds
// every blocker, not the first one only.

import { directUpdates } from '../../api/direct-update.ts'
import { nodes, pods } from '../../api/kube.ts'
import { nodeStates } from '../../api/node-state.ts'
import type { ClusterSnapshot } from '../../api/snapshot.ts'
import type { PlanRun } from '../../core/plan/plan-report.ts'
import type { CommittedChange } from '../../sim/server/object-store.ts'
import type { SimCluster } from '../../sim/sim-cluster.ts'
import { createOperatorPods } from '../../sim/workloads.ts'
import { isOperator, type LoadOptions, loadedCluster, namespaceOf } from './loaded-cluster.ts'
import { giveUpLostNodes } from './lost-nodes.ts'
import type { Part } from './part-of-cluster.ts'
import { PlanNotes } from './plan-notes.ts'
import { approvalOf, createPlanned, EndWatch, lateDrain, type NamedUpdate } from './plan-steering.ts'

export interface PlanRunOptions extends Omit<LoadOptions, 'update' | 'asleep'> {
  readonly snapshot: ClusterSnapshot
  readonly update: NamedUpdate
  /** What of it is rehearsed; absent: all. */
  readonly part?: Part
}

const limits = { startMs: 600_000, runMs: 30 * 24 * 3_600_000, settleMs: 10_000 }
const patience = { stuckMs: 1_800_000, attentionMs: 120_000 }

export async function planRun(options: PlanRunOptions, signal: AbortSignal): Promise<PlanRun> {
  const { update, part, seed, version, offers } = options
  const snapshot = part?.snapshot ?? options.snapshot
  const named = { name: update.name, profile: update.spec.profile }
  const cluster = loadedCluster(snapshot, {
    ...{ seed, version, update: named },
    ...(part && { asleep: part.asleep }),
    ...(offers && { offers }),
  })
  cluster.start()
  giveUpLostNodes(cluster, snapshot)
  await bringUp(cluster, snapshot, signal)
  return carryOut(cluster, options.snapshot, { name: update.name, spec: part?.spec ?? update.spec }, signal)
}

/** Creates the update and follows it to its end, noting what happens and helping out where a person would have to. */
export async function carryOut(
  cluster: SimCluster,
  snapshot: ClusterSnapshot,
  update: NamedUpdate,
  signal: AbortSignal,
): Promise<PlanRun> {
  const notes = new PlanNotes(cluster, snapshot, update)
  await createPlanned(cluster.client('person'), namespaceOf(snapshot), update, signal)
  const startedMs = cluster.clock.monotonicMs()
  const look = () => cluster.server.peek(directUpdates, { name: update.name })
  const end = new EndWatch(look, patience)
  cluster.server.onCommit((change) => relieve(cluster, notes, change))
  await cluster.run({
    limitMs: limits.runMs,
    until: () => {
      const body = approvalOf(look(), cluster.clock.now())
      if (body) cluster.server.patch('person', directUpdates, { name: update.name }, { type: 'merge', body })
      return signal.aborted || end.isOver(cluster.clock.monotonicMs())
    },
  })
  const nowMs = cluster.clock.monotonicMs()
  const found = look()
  notes.noteEnd(found, end.isStuck(nowMs))
  return {
    phase: found?.status?.phase ?? 'Pending',
    startedMs,
    durationMs: end.endMs(nowMs) - startedMs,
    ...notes.found(found),
  }
}

/** Until an operator leads, and, where it was never installed, until the agents have reported. */
async function bringUp(cluster: SimCluster, snapshot: ClusterSnapshot, signal: AbortSignal): Promise<void> {
  const person = cluster.client('person')
  if (!snapshot.pods.some(isOperator)) await createOperatorPods(person, 1, signal)
  if (!snapshot.installed) {
    const powered = [...cluster.machines.values()].filter(({ powered: on }) => on).length
    let nextMs = 0
    const reported = () => {
      if (cluster.clock.monotonicMs() < nextMs) return false
      nextMs = cluster.clock.monotonicMs() + 500
      return cluster.server.peekAll(nodeStates).filter(({ status }) => status?.agent).length >= powered
    }
    await cluster.run({ limitMs: limits.startMs, until: reported })
  }
  await cluster.run({ limitMs: limits.settleMs })
}

/** What a person would do in the end: the pods that hold a drain up are removed. */
function relieve(cluster: SimCluster, notes: PlanNotes, change: CommittedChange): void {
  const { node, pods: held } = lateDrain(change) ?? { node: '', pods: [] }
  for (const { pod, reason } of held) {
    notes.noteBlock(node, pod, reason)
    const [namespace = '', name = ''] = pod.split('/')
    cluster.clock.after(1, () => remove(cluster, { namespace, name }, node))
  }
}

function remove(cluster: SimCluster, ref: { readonly namespace: string; readonly name: string }, node: string): void {
  const { server } = cluster
  const pod = server.peek(pods, ref)
  if (pod?.spec.nodeName !== node || !server.peek(nodes, { name: node })) return
  if (pod.metadata.finalizers) {
    server.patch('person', pods, ref, { type: 'merge', body: { metadata: { finalizers: null } } })
  }
  if (server.peek(pods, ref)) server.delete('person', pods, ref, { gracePeriodSeconds: 0 })
}
