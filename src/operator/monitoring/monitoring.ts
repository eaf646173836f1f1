// What tells others how things are, during one term: series, audit record, health, silences and notifications. It looks at what the
// stores hold and what the ledger booked; nothing that decides looks at it.

import type { ControllerName } from '../../api/metric.ts'
import type { Reconcile } from '../../kube/controller.ts'
import type { EventRecorder } from '../../kube/event-recorder.ts'
import type { WorkQueue } from '../../kube/work-queue.ts'
import type { Sample } from '../../ports/metrics.ts'
import { followAudit } from '../audit/follow-audit.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { GrantPass } from '../ledger/grant-pass.ts'
import type { LedgerBook } from '../ledger/ledger-book.ts'
import { Notifications } from '../notification/notifications.ts'
import type { OperatorPorts } from '../ports.ts'
import type { ServerVersion } from '../server-version.ts'
import { Silences } from '../silence/silences.ts'
import { countChanges } from './count-changes.ts'
import { HealthKeeper } from './health-keeper.ts'
import { nodeSamples } from './node-samples.ts'
import { backupSamples, controlPlaneSamples, hourSamples, ledgerSamples } from './policy-samples.ts'
import { updateSamples } from './update-samples.ts'

export interface MonitoringOptions {
  readonly ports: OperatorPorts
  readonly cluster: Cluster
  readonly book: LedgerBook
  readonly grants: GrantPass
  readonly events: EventRecorder
  readonly namespace: string
  readonly version: string
  readonly serverVersion: ServerVersion
  readonly identity: string
}

/** A controller of this term, with the queue it takes from. */
export interface Controller {
  readonly name: ControllerName
  readonly queue: WorkQueue
  readonly reconcile: Reconcile
  readonly workers: number
}

const receiversAtOnce = 8

/** The controllers to run besides those that do the work. */
export function openMonitoring(options: MonitoringOptions, others: readonly Controller[]): readonly Controller[] {
  const { ports, cluster, book } = options
  const { metrics, audit, clock } = ports
  const health = new HealthKeeper(ports, cluster, book)
  const silences = new Silences(options)
  const notifications = new Notifications(options)
  const { queue, reconcile } = notifications
  const own: readonly Controller[] = [
    { name: 'health', queue: health.queue, reconcile: health.reconcile, workers: 1 },
    { name: 'silences', queue: silences.queue, reconcile: silences.reconcile, workers: 1 },
    { name: 'notifications', queue, reconcile, workers: receiversAtOnce },
  ]
  if (metrics) {
    countChanges(cluster, metrics, clock)
    metrics.gather(() => samples(options, [...others, ...own], silences.size))
  }
  if (audit) followAudit({ ...options, audit, clock, metrics, epoch: book.epoch })
  for (const part of [health, silences, notifications]) part.follow()
  return own
}

function* samples(options: MonitoringOptions, controllers: readonly Controller[], silences: number): Generator<Sample> {
  const { cluster, grants, ports } = options
  const now = ports.clock.now()
  yield* nodeSamples({ cluster, version: options.version, serverVersion: options.serverVersion.version })
  yield* updateSamples(cluster, now)
  yield* ledgerSamples(cluster, grants.budgetUse(), now)
  yield* hourSamples(cluster, now)
  yield* backupSamples(cluster)
  yield* controlPlaneSamples(cluster)
  for (const { name: controller, queue } of controllers) {
    yield { name: 'slipway_queue_depth', labels: { controller }, value: queue.depth }
  }
  yield { name: 'slipway_watch_silence_seconds', labels: {}, value: cluster.silentMs() / 1000 }
  yield { name: 'slipway_silences', labels: {}, value: silences }
}
