// One DirectUpdate: plan it, let it take nodes, tell how it stands, and put everything back when it is deleted.

import { type DirectUpdate, type DirectUpdateStatus, directUpdates } from '../../api/direct-update.ts'
import type { HookRun } from '../../api/hook.ts'
import { isKubeError } from '../../api/kube-error.ts'
import type { Reason } from '../../api/reason.ts'
import type { Work } from '../../api/work.ts'
import { equalJson, mergePatch } from '../../core/merge-patch.ts'
import { type Plan, planUpdate } from '../../core/plan/plan-update.ts'
import { finalizer, type Operation, ownerOfOperation } from '../../core/update/operation.ts'
import { phaseOf } from '../../core/update/progress.ts'
import type { Reconcile } from '../../kube/controller.ts'
import type { EventRecorder } from '../../kube/event-recorder.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { Checkpoints } from '../gates/checkpoints.ts'
import type { WaveChecks, WaveStanding } from '../hooks/wave-checks.ts'
import type { LedgerBook } from '../ledger/ledger-book.ts'
import type { OperatorPorts } from '../ports.ts'
import type { Operations } from './operations.ts'
import { RunningOperation, type Terms } from './running-operation.ts'
import { readScript, type ScriptShelf } from './script-content.ts'
import { plannedStatus, refusedStatus, runningStatus } from './update-status.ts'

export interface UpdateControllerOptions {
  readonly ports: OperatorPorts
  readonly cluster: Cluster
  readonly book: LedgerBook
  readonly operations: Operations
  readonly scripts: ScriptShelf
  readonly checkpoints: Checkpoints
  readonly checks: WaveChecks
  readonly events: EventRecorder
  readonly namespace: string
  readonly serverVersion: string
  readonly ownNode: string | undefined
  readonly wakeNode: (node: string) => void
  readonly wakeGrants: () => void
  /** What rolling the profile out asks of one node. */
  readonly profileWork: (node: string, profile: string) => Work | undefined
}

/** Status for the eye is written at most this often, unless the phase changes. */
const statusEveryMs = 1_000
/** A refusal that nothing we watch would lift (a ConfigMap that is missing) is looked at again after this. */
const replanMs = 15_000

export function makeUpdateReconcile(options: UpdateControllerOptions): Reconcile {
  const { ports, cluster, book, operations } = options
  const writtenAtMs = new Map<string, number>()

  return async (name, signal) => {
    const update = cluster.updates.get(name)
    if (!update) {
      operations.remove(name, false)
      writtenAtMs.delete(name)
      wakeHeld(name)
      return undefined
    }
    if (update.metadata.deletionTimestamp !== undefined) return remove(update, signal)
    const operation = operations.of(update)
    const { id } = operation
    const running = operations.get(name)
    if (running?.id === id && isPlanned(update)) {
      if (running.adopt(termsOf(update, operation), operation)) options.wakeGrants()
      return report(running, signal)
    }
    const over = isOver(update, id)
    if (over) operations.remove(name, false)
    // What an operation that is over owes comes before the next one.
    const isPast = over || update.status?.operationID !== id
    if (isPast && !(await options.checks.settle(update, hookWriter(name, signal)))) return undefined
    if (over) return undefined
    return start(update, operation, signal)
  }

  async function start(update: DirectUpdate, operation: Operation, signal: AbortSignal) {
    const { id } = operation
    const resumed = update.status?.operationID === id && isPlanned(update)
    const { script } = update.spec
    const read = (configMap: string | undefined) =>
      configMap === undefined || resumed ? undefined : readScript(ports.api, options.namespace, configMap, signal)
    const [content, validation] = await Promise.all([
      read(script?.configMap),
      read(script?.validate?.configMap),
      ensureFinalizer(update, signal),
    ])
    // Nothing is taken for an update that could go without our putting it back: deleted, and the watch has yet to say so.
    if (!cluster.updates.get(update.metadata.name)?.metadata.finalizers?.includes(finalizer)) return undefined
    const plan: Plan = resumed
      ? { verdict: 'planned', total: 0 }
      : planUpdate({
          spec: update.spec,
          nodes: [...cluster.nodes.values()],
          stateOf: (node) => cluster.states.get(node),
          serverVersion: options.serverVersion,
          scriptSha256: content?.sha256,
          validation: { sha256: validation?.sha256 },
          name: update.metadata.name,
          profiles: [...cluster.profiles.values()],
        })
    if (plan.verdict === 'refused') return refuse(update.metadata.name, id, plan.reason, plan.lasting, signal)
    const startedAt =
      resumed && update.status?.startedAt ? new Date(update.status.startedAt) : startOf(update, ports.clock.now())
    const running = new RunningOperation({
      cluster,
      slots: book,
      serverVersion: options.serverVersion,
      terms: termsOf(update, operation),
      operation,
      startedAt,
      ownNode: options.ownNode,
    })
    operations.add(running)
    wakeHeld(update.metadata.name)
    options.wakeGrants()
    if (!resumed) {
      // Nodes may be taken meanwhile; none gets its order before the script is where the order says.
      await options.scripts.ensure(update, content, signal)
      await writeStatus(update.metadata.name, (now, latest) => plannedStatus(latest, running, plan.path, now), signal)
      say(update, 'Normal', 'Started', 'Plan', `started as ${id}`)
    }
    return report(running, signal)
  }

  function termsOf({ metadata, spec }: DirectUpdate, { work }: Operation): Terms {
    const terms = {
      nodeSelector: spec.nodeSelector,
      strategy: spec.strategy,
      generation: metadata.generation,
      ...checksOf(metadata.name),
    }
    const { profile } = spec
    if (profile === undefined) return terms
    return {
      ...terms,
      isDone: () => false,
      workFor: (node) => {
        const { reboot, ...rest } = options.profileWork(node, profile) ?? {}
        return { ...work, ...rest, ...(reboot !== undefined && work.reboot === undefined && { reboot }) }
      },
    }
  }

  /** What stands between the update and its next node, or its end. */
  function checksOf(name: string): Pick<Terms, 'held' | 'ending'> {
    const reason = () => {
      const running = operations.get(name)
      const update = cluster.updates.get(name)
      return running && update && options.checks.reason(standingOf(running), update)
    }
    return { held: reason, ending: reason }
  }

  /** Hooks are brought on by what was last written of them. */
  async function runHooks(running: RunningOperation, signal: AbortSignal): Promise<void> {
    const update = cluster.updates.get(running.owner)
    if (!update || !running.operation.hooks?.length) return
    await options.checks.advance(standingOf(running), update, hookWriter(running.owner, signal))
    options.wakeGrants()
  }

  function hookWriter(name: string, signal: AbortSignal) {
    return async (hooks: readonly HookRun[]) => {
      await writeStatus(name, (_now, { status }) => ({ ...status, hooks: [...hooks] }), signal)
      return cluster.updates.get(name)
    }
  }

  async function refuse(name: string, id: string, reason: Reason, lasting: boolean, signal: AbortSignal) {
    const update = cluster.updates.get(name)
    if (!update) return undefined
    const before = update.status?.conditions?.find(({ type }) => type === 'Planned')
    if (before?.reason !== reason.code || update.status?.operationID !== id)
      say(update, 'Warning', reason.code, 'Plan', reason.message)
    await writeStatus(name, (now, latest) => refusedStatus(latest, id, reason, lasting, now), signal)
    operations.remove(name, !lasting)
    return lasting ? undefined : { afterMs: replanMs }
  }

  async function report(running: RunningOperation, signal: AbortSignal) {
    const name = running.owner
    await runHooks(running, signal)
    const update = cluster.updates.get(name)
    if (!update) return undefined
    const changedPhase = phaseOf(running.progress()) !== update.status?.phase
    const dueMs = (writtenAtMs.get(name) ?? Number.NEGATIVE_INFINITY) + statusEveryMs - ports.clock.monotonicMs()
    if (!changedPhase && dueMs > 0) return { afterMs: dueMs }
    const now = ports.clock.now()
    const compute = (at: Date, latest: DirectUpdate) => ({
      ...runningStatus(latest, running, (node) => cluster.states.get(node), at),
      gates: noneIfEmpty(options.checkpoints.standing(running.id)),
    })
    const next = compute(now, update)
    if (!changedPhase && equalJson(next, update.status)) return undefined
    writtenAtMs.set(name, ports.clock.monotonicMs())
    await writeStatus(name, compute, signal)
    if (changedPhase) noteEnd(update, next)
    if (next.phase === 'Succeeded' || next.phase === 'Failed') {
      operations.remove(name, false)
      wakeStaging(name)
    }
    return undefined
  }

  function noteEnd(update: DirectUpdate, { phase, progress }: DirectUpdateStatus): void {
    ports.log.info('update phase changed', { update: update.metadata.name, phase, progress })
    if (phase === 'Succeeded') say(update, 'Normal', 'Succeeded', 'Finish', `all ${progress} nodes are done`)
    if (phase === 'Failed') say(update, 'Warning', 'NodesFailed', 'Finish', `nodes failed; ${progress} done`)
    if (phase === 'RequiresAttention')
      say(update, 'Warning', 'RequiresAttention', 'Work', `a node needs a person; ${progress} done`)
  }

  /** The finalizer: every node this update holds is put back before it goes. */
  async function remove(update: DirectUpdate, signal: AbortSignal) {
    const { name, finalizers = [] } = update.metadata
    operations.remove(name, false)
    if (!finalizers.includes(finalizer)) return undefined
    operations.leaving.add(name)
    if (wakeHeld(name) + wakeStaging(name) > 0) return undefined
    if (!(await options.checks.settle(update, hookWriter(name, signal)))) return undefined
    const kept = finalizers.filter((entry) => entry !== finalizer)
    await patch(update, { metadata: { finalizers: kept.length > 0 ? kept : null } }, signal)
    return undefined
  }

  /** Nodes with a slot of this update look again at what is to become of them. */
  function wakeHeld(name: string): number {
    const held = book.grants.filter(({ holder }) => ownerOfOperation(holder) === name)
    for (const { node } of held) options.wakeNode(node)
    return held.length
  }

  /** Nodes that staged for this update, or failed to, and have no slot. */
  function wakeStaging(name: string): number {
    let woken = 0
    for (const { metadata, spec, status } of cluster.states.values()) {
      const staged = spec.order?.update === name && spec.order.desired === 'Stage'
      const marked = status?.rollout?.update === name && status.rollout.phase !== 'Done' && !status.rollout.cordon
      if (!staged && !marked) continue
      options.wakeNode(metadata.name)
      woken++
    }
    return woken
  }

  async function ensureFinalizer(update: DirectUpdate, signal: AbortSignal): Promise<void> {
    const { finalizers = [] } = update.metadata
    if (finalizers.includes(finalizer)) return
    await patch(update, { metadata: { finalizers: [...finalizers, finalizer] } }, signal)
  }

  async function writeStatus(
    name: string,
    compute: (now: Date, latest: DirectUpdate) => DirectUpdateStatus,
    signal: AbortSignal,
  ): Promise<void> {
    const latest = cluster.updates.get(name)
    if (!latest) return
    const change = mergePatch(latest.status ?? {}, compute(ports.clock.now(), latest))
    if (change !== undefined) await patch(latest, { status: change }, signal, 'status')
  }

  async function patch(
    { metadata }: DirectUpdate,
    change: { readonly metadata?: object; readonly status?: unknown },
    signal: AbortSignal,
    subResource?: 'status',
  ): Promise<void> {
    const { name, uid, resourceVersion } = metadata
    const body = { ...change, metadata: { ...change.metadata, uid, resourceVersion } }
    try {
      cluster.updates.learn(
        await ports.api.patch(directUpdates, { name }, { type: 'merge', body }, signal, subResource),
      )
    } catch (error) {
      // Deleted meanwhile: the watch will say so.
      if (!isKubeError(error, 'NotFound')) throw error
    }
  }

  function say(
    { metadata }: DirectUpdate,
    type: 'Normal' | 'Warning',
    reason: string,
    action: string,
    note: string,
  ): void {
    const { apiVersion, kind } = directUpdates
    const regarding = { apiVersion, kind, name: metadata.name, uid: metadata.uid }
    options.events.record({ regarding, type, reason, action, note: note.slice(0, 1000) })
  }
}

/**
 * Nodes that join after this are not part of the operation. The first one starts with the update's creation, an instant of
 * the API server's clock as the nodes' own are: ours may be off. A later one starts when its edit is seen.
 */
function startOf({ metadata, status }: DirectUpdate, now: Date): Date {
  const created = new Date(metadata.creationTimestamp)
  return status?.operationID === undefined || now < created ? created : now
}

function standingOf({ operation, table }: RunningOperation): WaveStanding {
  return { operation, ...table.waves }
}

function noneIfEmpty<T>(list: readonly T[]): T[] | undefined {
  return list.length === 0 ? undefined : [...list]
}

function isPlanned({ status }: DirectUpdate): boolean {
  return status?.conditions?.some(({ type, status: holds }) => type === 'Planned' && holds === 'True') ?? false
}

function isOver({ status }: DirectUpdate, id: string): boolean {
  return status?.operationID === id && (status.phase === 'Succeeded' || status.phase === 'Failed')
}
