// Makes the updates whose time has come. One pass looks at all that is scheduled, and says when the next is due: ten thousand
// schedules have one timer.

import { type DirectUpdate, directUpdates } from '../../api/direct-update.ts'
import type { KubeObject, ResourceType } from '../../api/kube.ts'
import { isKubeError } from '../../api/kube-error.ts'
import type { Reason } from '../../api/reason.ts'
import {
  type ScheduledUpdate,
  type ScheduledUpdateStatus,
  scheduledUpdates,
  type UpdateSchedule,
  type UpdateScheduleStatus,
  updateSchedules,
} from '../../api/schedule.ts'
import { decideScheduled, defaultStartBy, labelFor, updateNameOf } from '../../core/schedule/scheduled-update.ts'
import { decideSchedule } from '../../core/schedule/update-schedule.ts'
import { mergeConditions } from '../../core/update/progress.ts'
import type { Reconcile } from '../../kube/controller.ts'
import type { EventRecorder, RecordedEvent } from '../../kube/event-recorder.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { LedgerBook } from '../ledger/ledger-book.ts'
import type { OperatorPorts } from '../ports.ts'
import { heldNodes } from '../update/nodes-of-update.ts'

export interface ScheduleControllerOptions {
  readonly ports: OperatorPorts
  readonly cluster: Cluster
  readonly book: LedgerBook
  readonly events: EventRecorder
}

/** On every DirectUpdate that was made by a schedule: its name. */
export const scheduleLabel = 'slipway.dev/schedule'

type Scheduler = ScheduledUpdate | UpdateSchedule

/** More steps than one schedule ever takes in a row. */
const maxSteps = 8
/** A timer of weeks is no use: clocks are set, and the wall clock is what counts. */
const longestMs = 10 * 60_000

export function makeScheduleReconcile({ ports, cluster, book, events }: ScheduleControllerOptions): Reconcile {
  const { api, clock } = ports

  return async (_key, signal) => {
    const waits: number[] = []
    const failures: unknown[] = []
    const made = madeBy(cluster.updates.values())
    const steps = [
      ...[...cluster.scheduledUpdates.values()].map(
        ({ metadata }) =>
          () =>
            stepScheduled(metadata.name, signal),
      ),
      ...[...cluster.updateSchedules.values()].map(
        ({ metadata }) =>
          () =>
            stepSchedule(metadata.name, made.get(metadata.uid) ?? [], signal),
      ),
    ]
    for (const step of steps) {
      try {
        const untilMs = await follow(step)
        if (untilMs !== undefined) waits.push(untilMs)
      } catch (error) {
        if (signal.aborted) throw error
        // One that fails must not hold up those behind it.
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
    if (waits.length === 0) return undefined
    return { afterMs: Math.min(longestMs, Math.max(1, Math.min(...waits) - clock.now().getTime())) }
  }

  /** One after another until there is something to wait for; `again` looks at what the store holds by then. */
  async function follow(step: () => Promise<number | 'again' | undefined>): Promise<number | undefined> {
    for (let steps = 0; steps < maxSteps; steps++) {
      try {
        const untilMs = await step()
        if (untilMs !== 'again') return untilMs
      } catch (error) {
        // Changed or gone since: the watch will say so, and then it is looked at again.
        if (!isKubeError(error, 'Conflict', 'NotFound')) throw error
        return undefined
      }
    }
    return clock.now().getTime() + 1000
  }

  async function stepScheduled(name: string, signal: AbortSignal): Promise<number | 'again' | undefined> {
    const scheduled = cluster.scheduledUpdates.get(name)
    if (!scheduled || scheduled.metadata.deletionTimestamp !== undefined) return undefined
    const update = ownedBy(scheduled, cluster.updates.get(updateNameOf(scheduled)))
    const decision = decideScheduled(scheduled, update, clock.now())
    switch (decision.action) {
      case 'wait':
        return decision.untilMs
      case 'make':
        return make(scheduledUpdates, scheduled, decision, signal)
      case 'record': {
        const { status, reason } = decision
        const { phase: before, conditions } = scheduled.status ?? {}
        if (!(await record(scheduledUpdates, scheduled, { ...status }, reason, signal))) return undefined
        if (status.phase === 'Missed' && before !== 'Missed') {
          ports.metrics?.add('slipway_scheduled_runs_missed_total', {})
          const refused = conditions?.find(({ reason }) => reason === 'UpdateNotMade')
          const why = refused ? `, last because ${refused.message}` : ''
          const late = `${scheduled.spec.startBy ?? defaultStartBy} after ${status.at}`
          const note = `nobody could start it by ${late}${why}; set spec.at anew`
          tell(scheduledUpdates, scheduled, 'Warning', 'Missed', note)
        }
        return reason ? undefined : 'again'
      }
    }
  }

  async function stepSchedule(
    name: string,
    made: readonly DirectUpdate[],
    signal: AbortSignal,
  ): Promise<number | 'again' | undefined> {
    const schedule = cluster.updateSchedules.get(name)
    if (!schedule || schedule.metadata.deletionTimestamp !== undefined) return undefined
    const now = made.flatMap(({ metadata }) => cluster.updates.get(metadata.name) ?? [])
    const names = now.map(({ metadata }) => metadata.name)
    const holding = new Set(names.filter((update) => heldNodes(book, update).length > 0))
    const decision = decideSchedule(schedule, now, holding, clock.now())
    switch (decision.action) {
      case 'wait':
        return decision.untilMs
      case 'make':
        return make(updateSchedules, schedule, decision, signal)
      case 'cancel': {
        const { name: running } = decision.update.metadata
        const body = { spec: { desiredState: 'Cancelled' } }
        await api.patch(directUpdates, { name: running }, { type: 'merge', body }, signal)
        tell(updateSchedules, schedule, 'Normal', 'Replaced', `${running} is cancelled: the next run is due`)
        return undefined
      }
      case 'remove': {
        const { name: old, uid } = decision.update.metadata
        await api.delete(directUpdates, { name: old }, { uid }, signal)
        return undefined
      }
      case 'record': {
        const { status, reason, missed } = decision
        if (!(await record(updateSchedules, schedule, { ...status }, reason, signal))) return undefined
        if (missed) {
          ports.metrics?.add('slipway_scheduled_runs_missed_total', {}, missed)
          const note = `${missed} run(s) up to ${status.lastScheduled} were missed`
          tell(updateSchedules, schedule, 'Warning', 'Missed', note)
        }
        return reason ? undefined : 'again'
      }
    }
  }

  /** The watch brings it, and then it is recorded. */
  async function make<T extends Scheduler>(
    type: ResourceType<T>,
    scheduler: T,
    { name, untilMs }: { readonly name: string; readonly untilMs: number },
    signal: AbortSignal,
  ): Promise<number | undefined> {
    const { metadata, spec } = scheduler
    const { apiVersion, kind } = directUpdates
    const owner = {
      apiVersion: type.apiVersion,
      kind: type.kind,
      name: metadata.name,
      uid: metadata.uid,
      controller: true,
    }
    const labels = { [scheduleLabel]: labelFor(metadata.name) }
    try {
      const made = { name, labels, ownerReferences: [owner] }
      cluster.updates.learn(
        await api.create(directUpdates, { apiVersion, kind, metadata: made, spec: spec.template.spec }, signal),
      )
    } catch (error) {
      if (!isKubeError(error, 'AlreadyExists', 'Invalid', 'Forbidden')) throw error
      const there = cluster.updates.get(name)
      if (error.code === 'AlreadyExists' && (!there || ownedBy({ metadata }, there))) return undefined
      const why =
        error.code === 'AlreadyExists'
          ? `a DirectUpdate ${name} that is not its own is in the way; delete or rename it`
          : error.message
      await record(type, scheduler, scheduler.status ?? {}, { code: 'UpdateNotMade', message: why }, signal)
      return Math.min(clock.now().getTime() + longestMs, untilMs + 1)
    }
    events.record(eventAbout(type, metadata, 'Normal', 'Made', `DirectUpdate ${name}`))
    return undefined
  }

  /** False when that is what stands there already. */
  async function record<T extends Scheduler>(
    type: ResourceType<T>,
    object: T,
    status: ScheduledUpdateStatus | UpdateScheduleStatus,
    reason: Reason | undefined,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { name, uid, resourceVersion, generation } = object.metadata
    const accepted = reason
      ? ({ type: 'Accepted', status: 'False', reason: reason.code, message: reason.message } as const)
      : ({ type: 'Accepted', status: 'True', reason: 'Accepted', message: 'its times are understood' } as const)
    const known = object.status?.conditions?.find(({ type }) => type === 'Accepted')
    if (reason && known?.message === reason.message && object.status?.observedGeneration === generation) return false
    const conditions = mergeConditions(
      object.status?.conditions ?? [],
      [accepted],
      clock.now().toISOString(),
      generation,
    )
    const whole = { ...status, conditions, ...(generation !== undefined && { observedGeneration: generation }) }
    const gone = Object.fromEntries(
      Object.keys(object.status ?? {})
        .filter((key) => !(key in whole))
        .map((key) => [key, null]),
    )
    const body = { metadata: { uid, resourceVersion }, status: { ...gone, ...whole } }
    const written = await api.patch(type, { name }, { type: 'merge', body }, signal, 'status')
    if (type.kind === scheduledUpdates.kind) cluster.scheduledUpdates.learn(written as KubeObject as ScheduledUpdate)
    else cluster.updateSchedules.learn(written as KubeObject as UpdateSchedule)
    if (reason) tell(type, object, 'Warning', reason.code, reason.message)
    return true
  }

  function tell<T extends Scheduler>(
    type: ResourceType<T>,
    { metadata }: Scheduler,
    kind: 'Normal' | 'Warning',
    reason: string,
    note: string,
  ): void {
    events.record(eventAbout(type, metadata, kind, reason, note))
  }
}

/** By the uid of their schedule. */
function madeBy(updates: Iterable<DirectUpdate>): ReadonlyMap<string, readonly DirectUpdate[]> {
  const found = new Map<string, DirectUpdate[]>()
  for (const update of updates) {
    for (const { kind, uid } of update.metadata.ownerReferences ?? []) {
      if (kind === updateSchedules.kind) found.set(uid, [...(found.get(uid) ?? []), update])
    }
  }
  return found
}

function ownedBy(
  { metadata }: Pick<Scheduler, 'metadata'>,
  update: DirectUpdate | undefined,
): DirectUpdate | undefined {
  return update?.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid) ? update : undefined
}

function eventAbout<T extends Scheduler>(
  { apiVersion, kind }: ResourceType<T>,
  { name, uid }: Scheduler['metadata'],
  type: 'Normal' | 'Warning',
  reason: string,
  note: string,
): RecordedEvent {
  return { regarding: { apiVersion, kind, name, uid }, type, reason, action: 'Schedule', note }
}
