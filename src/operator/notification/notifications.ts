// Tells receivers what happened, each by itself and at least once: what it was told stands in the policy's status, so whoever leads
// next goes on from there. Nothing waits for a receiver; one that cannot be told costs an Event and a number, never an update.

import type { NodeState } from '../../api/node-state.ts'
import type { Receiver, ReceiverRecord } from '../../api/notification.ts'
import type { Reason } from '../../api/reason.ts'
import { equalJson } from '../../core/merge-patch.ts'
import { type News, newsOf } from '../../core/notification/news.ts'
import { openTo, owedOf, withTold } from '../../core/notification/owed.ts'
import { isBroken } from '../../core/update/retry.ts'
import { backOffMs } from '../../kube/back-off.ts'
import type { Reconcile } from '../../kube/controller.ts'
import type { EventRecorder } from '../../kube/event-recorder.ts'
import { WorkQueue } from '../../kube/work-queue.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { OperatorPorts } from '../ports.ts'
import { deliver } from './deliver.ts'
import { policyEvent } from './policy-event.ts'
import { ReceiverRecords } from './receiver-records.ts'

export interface NotificationsOptions {
  readonly ports: OperatorPorts
  readonly cluster: Cluster
  readonly events: EventRecorder
  readonly namespace: string
}

const backOff = { baseMs: 2_000, maxMs: 60_000 }
/** A receiver that has not heard by then is not told that news any more. */
const maxAttempts = 6
/** Many changes at once are looked at together. */
const gatherMs = 250

export class Notifications {
  readonly queue: WorkQueue
  readonly #options: NotificationsOptions
  readonly #records: ReceiverRecords
  readonly #broken = new Map<string, NodeState>()
  /** By receiver and news. */
  readonly #attempts = new Map<string, number>()
  /** By receiver. */
  readonly #leftOut = new Map<string, number>()

  constructor(options: NotificationsOptions) {
    const { clock, random } = options.ports
    this.#options = options
    this.#records = new ReceiverRecords(options.ports, options.cluster)
    this.queue = new WorkQueue({ clock, random, baseMs: 500, maxMs: 60_000 })
  }

  /** From now on whatever there is to tell is looked at. */
  follow(): void {
    const { states, updates, policies, scheduledUpdates } = this.#options.cluster
    for (const state of states.values()) this.#note(state.metadata.name, state)
    states.subscribe(({ key, type, object }) => {
      if (this.#note(key, type === 'removed' ? undefined : object)) this.#wakeAll()
    })
    updates.subscribe((change) => {
      if (change.type !== 'changed' || change.before.status?.phase !== change.object.status?.phase) this.#wakeAll()
      else if (!equalJson(change.before.status?.wave, change.object.status?.wave)) this.#wakeAll()
    })
    scheduledUpdates.subscribe(() => this.#wakeAll())
    policies.subscribe((change) => {
      const isNews =
        change.type !== 'changed' ||
        !equalJson(change.before.spec.notifications, change.object.spec.notifications) ||
        !equalJson(change.before.status?.backups, change.object.status?.backups)
      if (isNews) this.#wakeAll()
    })
    this.#wakeAll()
  }

  /** One receiver: the oldest news it was not told of. */
  readonly reconcile: Reconcile = async (name, signal) => {
    const { cluster, ports } = this.#options
    const receivers = cluster.writablePolicy?.spec.notifications ?? []
    const receiver = receivers.find((one) => one.name === name)
    await this.#records.keepOnly(receivers, signal)
    if (!receiver) return undefined
    const record = await this.#records.of(name, signal)
    if (!record) return undefined
    const { open, leftOut } = openTo(receiver, record, this.#news())
    this.#logLeftOut(name, leftOut)
    const [next, ...more] = owedOf(record, open)
    if (!next) return undefined
    const failure = await deliver(this.#options, receiver, next, signal)
    const attempt = `${name} ${next.key}`
    if (!failure) {
      await this.#told(receiver, record, next, open, { lastSuccess: ports.clock.now().toISOString() }, signal)
      ports.metrics?.add('slipway_notifications_total', { receiver: name, outcome: 'Sent' })
      this.#attempts.delete(attempt)
      return more.length > 0 ? { afterMs: 1 } : undefined
    }
    const attempts = (this.#attempts.get(attempt) ?? 0) + 1
    if (failure.mayPass && attempts < maxAttempts) {
      this.#attempts.set(attempt, attempts)
      ports.metrics?.add('slipway_notifications_total', { receiver: name, outcome: 'Retried' })
      return { afterMs: Math.max(failure.afterMs ?? 0, backOffMs(backOff, attempts, ports.random)) }
    }
    this.#attempts.delete(attempt)
    await this.#giveUp(receiver, record, next, open, failure.message, signal)
    return more.length > 0 ? { afterMs: 1 } : undefined
  }

  async #giveUp(
    receiver: Receiver,
    record: ReceiverRecord,
    given: News,
    open: readonly News[],
    message: string,
    signal: AbortSignal,
  ): Promise<void> {
    const { ports, events, cluster } = this.#options
    const reason: Reason = {
      code: 'NotificationFailed',
      message: `receiver ${receiver.name} was not told ${given.kind} (${given.key}): ${message}`.slice(0, 1000),
    }
    await this.#told(
      receiver,
      record,
      given,
      open,
      { lastFailure: { at: ports.clock.now().toISOString(), reason } },
      signal,
    )
    ports.metrics?.add('slipway_notifications_total', { receiver: receiver.name, outcome: 'GivenUp' })
    ports.log.warn('a receiver could not be told', { code: reason.code, receiver: receiver.name, message })
    events.record(policyEvent(cluster, 'Warning', reason, 'Notify'))
  }

  async #told(
    { name }: Receiver,
    record: ReceiverRecord,
    { key }: News,
    open: readonly News[],
    outcome: Pick<ReceiverRecord, 'lastSuccess' | 'lastFailure'>,
    signal: AbortSignal,
  ): Promise<void> {
    await this.#records.write(name, { ...record, ...outcome, told: [...withTold(record, key, open)] }, signal)
  }

  /** Once for each that is more. */
  #logLeftOut(receiver: string, leftOut: number): void {
    if (leftOut > (this.#leftOut.get(receiver) ?? 0)) {
      this.#options.ports.log.warn('more news than a receiver is told at a time: the oldest are left out', {
        receiver,
        leftOut,
      })
    }
    this.#leftOut.set(receiver, leftOut)
  }

  #news(): readonly News[] {
    const { cluster, ports } = this.#options
    const { updates, scheduledUpdates, policy } = cluster
    const sources = { updates: updates.values(), broken: this.#broken.values(), policy }
    return newsOf({ ...sources, scheduled: scheduledUpdates.values() }, ports.clock.now())
  }

  /** True when there may be something to tell. */
  #note(name: string, state: NodeState | undefined): boolean {
    const phase = state?.status?.rollout?.phase
    if (state && phase && isBroken(phase)) {
      const known = this.#broken.get(name)?.status?.rollout?.since
      this.#broken.set(name, state)
      return known !== state.status?.rollout?.since
    }
    this.#broken.delete(name)
    return false
  }

  #wakeAll(): void {
    for (const { name } of this.#options.cluster.policy?.spec.notifications ?? []) this.queue.addAfter(name, gatherMs)
    for (const { receiver } of this.#options.cluster.policy?.status?.notifications ?? []) {
      this.queue.addAfter(receiver, gatherMs)
    }
  }
}
