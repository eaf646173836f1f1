// One DirectUpdate: plan it, let it take nodes, tell how it stands, and put everything back when it is deleted.

import type { DirectUpdate, DirectUpdateStatus } from '../../api/direct-update.ts'
import type { Reason } from '../../api/reason.ts'
import { saysApiAway } from '../../core/control-plane/api-away.ts'
import { equalJson } from '../../core/merge-patch.ts'
import type { Plan } from '../../core/plan/plan-update.ts'
import { finalizer, isEndedPhase, type Operation, runOf } from '../../core/update/operation.ts'
import { phaseOf } from '../../core/update/progress.ts'
import type { Reconcile } from '../../kube/controller.ts'
import type { EventRecorder } from '../../kube/event-recorder.ts'
import type { Backups } from '../backup/backups.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { Checkpoints } from '../gates/checkpoints.ts'
import type { Hooks } from '../hooks/hooks.ts'
import { WaveChecks } from '../hooks/wave-checks.ts'
import type { LedgerBook } from '../ledger/ledger-book.ts'
import type { OperatorPorts } from '../ports.ts'
import type { Later, Planner } from '../preflight/planner.ts'
import type { NodeAsk } from '../profile/node-ask.ts'
import type { ServerVersion } from '../server-version.ts'
import { heldNodes, stagingNodes } from './nodes-of-update.ts'
import type { LookedUp, Operations } from './operations.ts'
import { idleStatus, idleText } from './path-status.ts'
import { PathWalk } from './path-walk.ts'
import { RunningOperation } from './running-operation.ts'
import { readScript, type ScriptShelf } from './script-content.ts'
import type { Terms } from './terms.ts'
import { eventsOf } from './update-events.ts'
import { isOver, isPlanned, isUnderWay, startOf } from './update-life.ts'
import { previewFor } from './update-preview.ts'
import { UpdateRecord } from './update-record.ts'
import {
  cancelledStatus,
  dryStatus,
  expiryOf,
  observed,
  plannedStatus,
  type Refusal,
  refusedStatus,
  runningStatus,
} from './update-status.ts'
import { updateTerms } from './update-terms.ts'

export interface UpdateControllerOptions {
  readonly ports: OperatorPorts
  readonly cluster: Cluster
  readonly book: LedgerBook
  readonly operations: Operations
  readonly scripts: ScriptShelf
  readonly planner: Planner
  readonly checkpoints: Checkpoints
  readonly backups: Pick<Backups, 'obstacle'>
  readonly hooks: Hooks
  /** Why nothing of an operation may begin now, by the policy. */
  readonly shut: (operation: RunningOperation) => Reason | undefined
  readonly events: EventRecorder
  readonly namespace: string
  readonly serverVersion: ServerVersion
  readonly ownNode: string | undefined
  readonly wakeNode: (node: string) => void
  readonly wakeGrants: () => void
  readonly wakeUpdate: (name: string) => void
  /** What rolling the profile out asks of one node. */
  readonly profileWork: (node: string, profile: string) => NodeAsk
}

/** Status for the eye is written at most this often, unless the phase changes. */
const statusEveryMs = 1_000
/** A refusal that nothing we watch would lift (a ConfigMap that is missing) is looked at again after this. */
const replanMs = 15_000

export function makeUpdateReconcile(options: UpdateControllerOptions): Reconcile {
  const { ports, cluster, book, operations } = options
  const writtenAtMs = new Map<string, number>()
  const record = new UpdateRecord(ports, cluster, options.events)
  const pathWalk = new PathWalk({ cluster, record, planner: options.planner, log: ports.log })
  const checks = new WaveChecks({
    checkpoints: options.checkpoints,
    hooks: options.hooks,
    clock: ports.clock,
    update: (name) => cluster.updates.get(name),
    write: (name, hooks, signal) =>
      record.writeStatus(name, (_now, { status }) => ({ ...status, hooks: [...hooks] }), signal),
    wake: options.wakeUpdate,
  })

  return async (name, signal) => {
    const update = cluster.updates.get(name)
    if (!update) {
      operations.remove(name, false)
      writtenAtMs.delete(name)
      options.planner.forget(name)
      wakeHeld(name)
      return undefined
    }
    if (update.metadata.deletionTimestamp !== undefined) return remove(update, signal)
    const operation = operations.of(update)
    const run = runOf(operation)
    const running = operations.get(name)
    if (isOver(update, run)) {
      // Its end is on record, also where the write of it seemed to fail.
      operations.remove(name, false)
      if (running) wakeStaging(name)
      if (update.status?.observedGeneration !== update.metadata.generation) {
        await record.writeStatus(name, (_now, latest) => ({ ...latest.status, ...observed(latest) }), signal)
      }
      await checks.settle(name, signal)
      return undefined
    }
    if (running?.id === operation.id && isPlanned(update)) {
      const change = running.adopt(termsOf(update, operation, update.status?.warnings ?? []), operation)
      if (change !== 'same') options.wakeGrants()
      if (change === 'edited') wakeAll(name)
      return report(running, signal)
    }
    // What an operation that is over owes comes before the next one.
    if (update.status?.operationID !== run && !(await checks.settle(name, signal))) return undefined
    if (operation.cancel !== undefined && !(update.status?.operationID === run && isPlanned(update))) {
      operations.remove(name, false)
      await record.writeStatus(name, (now, latest) => cancelledStatus(latest, run, now), signal)
      return undefined
    }
    return start(update, operation, signal)
  }

  async function start(update: DirectUpdate, wished: Operation, signal: AbortSignal): ReturnType<Reconcile> {
    const run = runOf(wished)
    const resumed = isUnderWay(update, run)
    // What has begun is no dry run any more: nodes may be under work.
    const isDry = update.spec.dryRun === true && !resumed
    const { script } = update.spec
    const read = (configMap: string | undefined) =>
      configMap === undefined || resumed ? undefined : readScript(ports.api, options.namespace, configMap, signal)
    const [content, validation] = await Promise.all([
      read(script?.configMap),
      read(script?.validate?.configMap),
      isDry ? undefined : record.addFinalizer(update, signal),
    ])
    const contents = { scriptSha256: content?.sha256, validation: { sha256: validation?.sha256 } }
    const plan: Plan | Later = resumed
      ? {
          verdict: 'planned',
          total: 0,
          preflight: [],
          ...(update.status?.warnings && { warnings: update.status.warnings }),
        }
      : await options.planner.plan(update, contents, signal)
    // Nothing is taken for an update that could go without our putting it back: deleted, and the watch has yet to say so; nor
    // for one that was edited while it was planned.
    const latest = cluster.updates.get(update.metadata.name)?.metadata
    if (latest?.generation !== update.metadata.generation) return undefined
    if (!isDry && !latest?.finalizers?.includes(finalizer)) return undefined
    if (plan.verdict === 'later') return { afterMs: plan.afterMs }
    if (plan.verdict === 'refused') return refuse(update.metadata.name, run, plan, signal)
    const startedAt =
      resumed && update.status?.startedAt ? new Date(update.status.startedAt) : startOf(update, ports.clock.now())
    const operation = resumed ? wished : operations.resolved(update, run, plan)
    const make = (one: Operation) =>
      new RunningOperation({
        cluster,
        slots: book,
        serverVersion: options.serverVersion,
        terms: termsOf(update, one, plan.warnings ?? []),
        operation: one,
        startedAt,
        ownNode: options.ownNode,
      })
    const running = make(operation)
    const { name } = update.metadata
    const preview = resumed ? undefined : previewFor(cluster, book, update, make(lastOf(update, run, plan)), plan.path)
    const tell = (status: typeof plannedStatus) =>
      record.writeStatus(
        name,
        // On record already, by a write that seemed to fail: what was looked up then stands.
        (now, latest) =>
          latest.status && isUnderWay(latest, run) ? latest.status : status(latest, running, { ...plan, preview }, now),
        signal,
      )
    if (plan.idle && !isDry) {
      await tell(idleStatus)
      record.say(update, { type: 'Normal', reason: 'Succeeded', action: 'Plan', note: idleText(plan.path) })
      return undefined
    }
    if (isDry) {
      await tell(dryStatus)
      return undefined
    }
    const begin = async () => {
      await options.scripts.ensure(update, content, signal)
      await tell(plannedStatus)
      record.say(update, { type: 'Normal', reason: 'Started', action: 'Plan', note: `started as ${run}` })
    }
    if (!resumed && (operation.step || operation.osImage)) {
      // Which versions and which image these are hangs on what is on offer now: nothing is begun before they are on record.
      await begin()
      return goOn(name, run, signal)
    }
    operations.add(running)
    wakeAll(name)
    options.wakeGrants()
    // Nodes may be taken meanwhile; none gets its order before the script is where the order says.
    if (!resumed) await begin()
    return report(running, signal)
  }

  /** From what is on record now. */
  async function goOn(name: string, run: string, signal: AbortSignal): ReturnType<Reconcile> {
    const latest = cluster.updates.get(name)
    if (!latest || !isUnderWay(latest, run)) return undefined
    return start(latest, operations.of(latest), signal)
  }

  /** All of its nodes are members of the last step. */
  function lastOf(update: DirectUpdate, run: string, { path, osImage }: LookedUp): Operation {
    const last = path && { ...path, step: (path.steps?.length ?? 1) - 1 }
    return operations.resolved(update, run, { path: last, osImage })
  }

  function termsOf(update: DirectUpdate, operation: Operation, warnings: readonly Reason[]): Terms {
    const terms = updateTerms(update, operation, cluster, options.profileWork, ports.clock.now())
    const apiAway = saysApiAway(warnings) ? 'Stated' : 'Unstated'
    const { name } = update.metadata
    return {
      ...{ ...terms, apiAway, checks: checks.of(name) },
      lastly: (check) => options.backups.obstacle(name, check),
    }
  }

  async function refuse(name: string, id: string, refusal: Refusal, signal: AbortSignal) {
    const { reason, lasting } = refusal
    const update = cluster.updates.get(name)
    if (!update) return undefined
    const before = update.status?.conditions?.find(({ type }) => type === 'Planned')
    if (before?.reason !== reason.code || update.status?.operationID !== id)
      record.say(update, { type: 'Warning', reason: reason.code, action: 'Plan', note: reason.message })
    await record.writeStatus(name, (now, latest) => refusedStatus(latest, id, refusal, now), signal)
    operations.remove(name, !lasting)
    return lasting ? undefined : { afterMs: replanMs }
  }

  async function report(running: RunningOperation, signal: AbortSignal): ReturnType<Reconcile> {
    const name = running.owner
    const standing = { ...running.waveStanding, held: running.held() ?? options.shut(running) }
    await checks.advance(name, standing, () => running.waveDone(ports.clock.now()), signal)
    const update = cluster.updates.get(name)
    if (!update) return undefined
    if (running.isStepDone(ports.clock.now())) {
      const next = await pathWalk.advance(update, running, signal)
      if (next.verdict === 'later') return { afterMs: next.afterMs }
      if (next.verdict === 'begun') return goOn(name, runOf(running.operation), signal)
    }
    const now = ports.clock.now()
    const wave = running.wave(now)
    const progress = running.progress(now, wave)
    const changedPhase = phaseOf(progress) !== update.status?.phase
    const dueMs = (writtenAtMs.get(name) ?? Number.NEGATIVE_INFINITY) + statusEveryMs - ports.clock.monotonicMs()
    if (!changedPhase && dueMs > 0) return { afterMs: dueMs }
    const isPolicyPaused = cluster.policy?.spec.paused === true
    const compute = (latest: DirectUpdate) => ({
      ...runningStatus(latest, running, { wave, progress, isPolicyPaused, now }, (node) => cluster.states.get(node)),
      ...standingGates(options.checkpoints, running.id),
    })
    const next = compute(update)
    if (changedPhase || !equalJson(next, update.status)) {
      writtenAtMs.set(name, ports.clock.monotonicMs())
      await record.writeStatus(name, (_now, latest) => (latest === update ? next : compute(latest)), signal)
      noteNews(update, next)
    }
    if (isEndedPhase(next.phase)) {
      operations.remove(name, false)
      wakeStaging(name)
      return undefined
    }
    const againMs = running.nextStepWaitsFor ? now.getTime() + replanMs : wave?.untilMs
    return whenAgain(againMs, expiryOf({ ...update, status: next }), now)
  }

  function noteNews(update: DirectUpdate, next: DirectUpdateStatus): void {
    const { phase, progress } = next
    if (phase !== update.status?.phase) {
      const told = next.conditions?.find(({ type }) => type === (phase === 'Failed' ? 'Failed' : 'Progressing'))
      const why = told && { code: told.reason, message: told.message }
      ports.log.info('update phase changed', { update: update.metadata.name, phase, progress, ...why })
    }
    for (const event of eventsOf(update.status, next)) record.say(update, event)
  }

  /** What a person said concerns every node of it: under work, staging or failed. */
  function wakeAll(name: string): void {
    wakeHeld(name)
    wakeStaging(name)
  }

  /** The finalizer: every node this update holds is put back before it goes. */
  async function remove(update: DirectUpdate, signal: AbortSignal) {
    const { name, finalizers = [] } = update.metadata
    operations.remove(name, false)
    if (!finalizers.includes(finalizer)) return undefined
    operations.leaving.add(name)
    if (wakeHeld(name) + wakeStaging(name) > 0) return undefined
    if (!(await checks.settle(name, signal))) return undefined
    await record.dropFinalizer(update, signal)
    return undefined
  }

  /** Nodes with a slot of this update look again at what is to become of them. */
  function wakeHeld(name: string): number {
    return wake(heldNodes(book, name))
  }

  function wakeStaging(name: string): number {
    return wake(stagingNodes(cluster, name))
  }

  function wake(nodes: readonly string[]): number {
    for (const node of nodes) options.wakeNode(node)
    return nodes.length
  }
}

/** None = the field goes. */
function standingGates(checkpoints: Checkpoints, id: string): Pick<DirectUpdateStatus, 'gates'> {
  const gates = [...checkpoints.standing(id)]
  return { gates: gates.length > 0 ? gates : undefined }
}

/** The first of two instants, where there is one. An expiry that has passed is known: what is under work ends by its own time. */
function whenAgain(
  next: number | undefined,
  expiry: number | undefined,
  now: Date,
): { readonly afterMs: number } | undefined {
  const due = expiry !== undefined && expiry > now.getTime() ? expiry : Number.POSITIVE_INFINITY
  const first = Math.min(next ?? Number.POSITIVE_INFINITY, due)
  return Number.isFinite(first) ? { afterMs: Math.max(1, first - now.getTime()) } : undefined
}
