// One rehearsal of an update on a loaded cluster: the real operator and agents to the end, in virtual time. Where a drain is
// blocked until its time is up, that is noted, the pods in its way are removed as a person would, and it goes on: so one run finds
// every blocker, not the first one only.

import { type DirectUpdate, type DirectUpdateSpec, directUpdates } from '../../api/direct-update.ts'
import { configMaps, nodes, pods } from '../../api/kube.ts'
import { isKubeError } from '../../api/kube-error.ts'
import { type NodeState, nodeStates } from '../../api/node-state.ts'
import type { ClusterSnapshot } from '../../api/snapshot.ts'
import type { PlanRun } from '../../core/plan/plan-report.ts'
import type { CommittedChange } from '../../sim/server/object-store.ts'
import type { SimCluster } from '../../sim/sim-cluster.ts'
import { createOperatorPods } from '../../sim/workloads.ts'
import { isOperator, type LoadOptions, loadedCluster, namespaceOf } from './loaded-cluster.ts'
import { PlanNotes } from './plan-notes.ts'
import { plannedScript } from './rehearsable.ts'

/** Checks that foretell what a rehearsal runs into, each with its node and pod; they would end it before it begins. */
const rehearsed = ['DisruptionBudgets', 'PodsUnderTwoBudgets', 'Capacity', 'ClockSkew'] as const

export interface PlanRunOptions extends Omit<LoadOptions, 'update'> {
  readonly snapshot: ClusterSnapshot
  readonly update: { readonly name: string; readonly spec: DirectUpdateSpec }
}

const limits = { startMs: 600_000, runMs: 30 * 24 * 3_600_000, stuckMs: 1_800_000, lookMs: 5_000 }
/** These end by themselves, by an approval, or by their time-out. */
const passing = new Set(['WaveSoaking', 'ApprovalWanted', 'GateWaiting'])
const over = new Set(['Succeeded', 'Failed', 'RequiresAttention', 'Cancelled'])

export async function planRun(options: PlanRunOptions, signal: AbortSignal): Promise<PlanRun> {
  const { snapshot, update } = options
  const cluster = loadedCluster(snapshot, { ...options, update: { name: update.name, profile: update.spec.profile } })
  cluster.start()
  await bringUp(cluster, snapshot, signal)
  return carryOut(cluster, snapshot, update, signal)
}

/** Creates the update and follows it to its end, noting what happens and helping out where a person would have to. */
export async function carryOut(
  cluster: SimCluster,
  snapshot: ClusterSnapshot,
  update: PlanRunOptions['update'],
  signal: AbortSignal,
): Promise<PlanRun> {
  const notes = new PlanNotes(cluster, snapshot, update.name)
  await create(cluster, snapshot, update, signal)
  const startedMs = cluster.clock.monotonicMs()
  const look = () => cluster.server.peek(directUpdates, { name: update.name })
  const stuck = new StuckWatch(cluster, look)
  cluster.server.onCommit((change) => relieve(cluster, notes, change))
  await cluster.run({
    limitMs: limits.runMs,
    until: () => {
      approve(cluster, look())
      return signal.aborted || isOver(look()) || stuck.isStuck()
    },
  })
  const end = look()
  notes.noteEnd(end, stuck.isStuck())
  return {
    phase: end?.status?.phase ?? 'Pending',
    durationMs: cluster.clock.monotonicMs() - startedMs,
    ...notes.found(end),
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
  await cluster.run({ limitMs: limits.lookMs * 2 })
}

async function create(
  cluster: SimCluster,
  snapshot: ClusterSnapshot,
  { name, spec }: PlanRunOptions['update'],
  signal: AbortSignal,
): Promise<void> {
  const person = cluster.client('person')
  const namespace = namespaceOf(snapshot)
  for (const script of [spec.script, spec.script?.validate]) {
    if (!script) continue
    const metadata = { name: script.configMap, namespace }
    await person.create(configMaps, { metadata, data: { script: plannedScript } }, signal).catch((error: unknown) => {
      if (!isKubeError(error, 'AlreadyExists')) throw error
    })
  }
  const { apiVersion, kind } = directUpdates
  const preflight = { skip: [...new Set([...(spec.preflight?.skip ?? []), ...rehearsed])] }
  await person.create(directUpdates, { apiVersion, kind, metadata: { name }, spec: { ...spec, preflight } }, signal)
}

function isOver(update: DirectUpdate | undefined): boolean {
  if (over.has(update?.status?.phase ?? '')) return true
  return update?.status?.conditions?.some(({ type, status }) => type === 'Planned' && status === 'False') ?? false
}

/** A wave that wants an approval gets it at once: how long a person takes cannot be known. */
function approve(cluster: SimCluster, update: DirectUpdate | undefined): void {
  const { wave, operationID } = update?.status ?? {}
  if (!update || wave?.promotion !== 'Wanted' || operationID === undefined) return
  const { approvals = [] } = update.spec
  if (approvals.some((given) => given.operationID === operationID && given.wave === wave.index)) return
  const approval = { operationID, wave: wave.index, by: 'plan', at: cluster.clock.now().toISOString() }
  const body = { spec: { approvals: [...approvals, approval] } }
  cluster.server.patch('person', directUpdates, { name: update.metadata.name }, { type: 'merge', body })
}

/** Blocked, with nothing that will change it: no instant is named at which it goes on. */
class StuckWatch {
  readonly #cluster: SimCluster
  readonly #look: () => DirectUpdate | undefined
  #nextMs = 0
  #since: { readonly message: string; readonly atMs: number } | undefined

  constructor(cluster: SimCluster, look: () => DirectUpdate | undefined) {
    this.#cluster = cluster
    this.#look = look
  }

  isStuck(): boolean {
    const nowMs = this.#cluster.clock.monotonicMs()
    if (nowMs < this.#nextMs) return this.#isOverdue(nowMs)
    this.#nextMs = nowMs + limits.lookMs
    const blocked = this.#look()?.status?.conditions?.find(({ type }) => type === 'Blocked')
    if (blocked?.status !== 'True' || passing.has(blocked.reason)) this.#since = undefined
    else if (this.#since?.message !== blocked.message) this.#since = { message: blocked.message, atMs: nowMs }
    return this.#isOverdue(nowMs)
  }

  #isOverdue(nowMs: number): boolean {
    return this.#since !== undefined && nowMs - this.#since.atMs > limits.stuckMs
  }
}

/** What a person would do in the end: the pods that hold a drain up are removed. */
function relieve(cluster: SimCluster, notes: PlanNotes, { kind, after }: CommittedChange): void {
  if (kind !== 'NodeState' || !after) return
  const { metadata, status } = after as NodeState
  if (status?.rollout?.reason?.code !== 'DrainTimedOut') return
  for (const { pod, reason } of status.rollout.drain?.pods ?? []) {
    notes.noteBlock(metadata.name, pod, reason)
    const [namespace = '', name = ''] = pod.split('/')
    cluster.clock.after(1, () => remove(cluster, { namespace, name }, metadata.name))
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
