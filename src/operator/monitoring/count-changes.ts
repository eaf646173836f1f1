// Counts what happens as the stores of one term tell it. Nothing here is asked by anything that decides.

import type { DirectUpdate } from '../../api/direct-update.ts'
import type { MaintenancePolicy } from '../../api/maintenance-policy.ts'
import { metricCatalogue } from '../../api/metrics.ts'
import type { AgentOrder, NodeState, OperationKind, Rollout } from '../../api/node-state.ts'
import { notificationOutcomes } from '../../api/notification.ts'
import { maintenancePrefix } from '../../core/maintenance/wish.ts'
import { stepKind } from '../../core/monitoring/step-kind.ts'
import { profilePrefix } from '../../core/profile/operation-id.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Metrics } from '../../ports/metrics.ts'
import type { Cluster } from '../cluster/cluster.ts'

const { outcome: backupOutcomes } = metricCatalogue.slipway_backups_total.labels

type Ended = 'Succeeded' | 'Failed' | 'Cancelled'

export function countChanges(cluster: Cluster, metrics: Metrics, clock: Clock): void {
  beginAtZero(metrics, cluster.policy)
  cluster.states.subscribe((change) => {
    if (change.type === 'removed') return
    const before = change.type === 'changed' ? change.before : undefined
    countRollout(metrics, before?.status?.rollout, change.object.status?.rollout)
    countAgent(metrics, before, change.object)
  })
  cluster.updates.subscribe((change) => {
    if (change.type !== 'changed') return
    countUpdate(metrics, change.before, change.object)
    countUpdateBackups(metrics, change.before, change.object, cluster.policy)
  })
  cluster.policies.subscribe((change) => {
    if (change.type !== 'removed') beginAtZero(metrics, change.object)
    if (change.type !== 'changed') return
    countGrants(metrics, change.before, change.object, clock.now().getTime())
    countStoreBackups(metrics, change.before, change.object)
  })
}

/** Counters of what the policy names: one that begins with its first failure never rises, and no alert rings. */
function beginAtZero(metrics: Metrics, policy: MaintenancePolicy | undefined): void {
  const { backupStores = [], notifications = [] } = policy?.spec ?? {}
  for (const { name: store } of backupStores) {
    for (const outcome of backupOutcomes) metrics.add('slipway_backups_total', { store, outcome }, 0)
  }
  for (const { name: receiver } of notifications) {
    for (const outcome of notificationOutcomes) metrics.add('slipway_notifications_total', { receiver, outcome }, 0)
  }
}

function countRollout(metrics: Metrics, before: Rollout | undefined, after: Rollout | undefined): void {
  const isSame = before?.phase === after?.phase && before?.operationID === after?.operationID
  if (isSame) return
  if (before?.phase === 'Draining') {
    const isEmptied = after?.phase === 'Assigned' || after?.phase === 'Working'
    metrics.add('slipway_drains_total', { outcome: isEmptied ? 'Emptied' : 'GivenUp' })
    if (isEmptied) metrics.observe('slipway_drain_duration_seconds', {}, seconds(before.since, after.since))
  }
  if (after?.phase === 'Draining') metrics.add('slipway_drains_total', { outcome: 'Started' })
  if (after?.phase !== 'Done' && after?.phase !== 'Failed' && after?.phase !== 'RequiresAttention') return
  metrics.add('slipway_node_results_total', { kind: after.kind ?? 'DirectUpdate', phase: after.phase })
}

function countAgent(metrics: Metrics, before: NodeState | undefined, { spec, status }: NodeState): void {
  const was = before?.status?.agent
  const is = status?.agent
  if (!was || !is || was === is) return
  if (was.bootID !== is.bootID && spec.order) metrics.add('slipway_reboots_total', {})
  if (is.order) countOrder(metrics, was.order?.id === is.order.id ? was.order : undefined, is.order)
}

function countOrder(metrics: Metrics, before: AgentOrder | undefined, after: AgentOrder): void {
  const { state } = after
  const isOver = state !== 'Accepted' && state !== 'Staged' && state !== 'Running'
  if (isOver && before?.state !== state) metrics.add('slipway_orders_total', { state })
  for (const step of after.steps) {
    const was = before?.steps.find(({ name }) => name === step.name)
    if (was?.state === step.state) continue
    if (step.state === 'Failed') metrics.add('slipway_step_failures_total', { code: step.reason?.code ?? 'StepFailed' })
    if (step.state !== 'Succeeded' && step.state !== 'Failed') continue
    if (step.startedAt === undefined || step.finishedAt === undefined) continue
    const labels = { step: stepKind(step.name) }
    metrics.observe('slipway_step_duration_seconds', labels, seconds(step.startedAt, step.finishedAt))
  }
}

function countUpdate(metrics: Metrics, { status: before }: DirectUpdate, { status: after }: DirectUpdate): void {
  if (!after?.phase || !isEnd(after.phase) || before?.phase === after.phase) return
  metrics.add('slipway_updates_ended_total', { phase: after.phase })
  if (after.startedAt === undefined || after.finishedAt === undefined) return
  metrics.observe('slipway_update_duration_seconds', {}, seconds(after.startedAt, after.finishedAt))
}

function countUpdateBackups(
  metrics: Metrics,
  { status: before }: DirectUpdate,
  { spec, status: after }: DirectUpdate,
  policy: MaintenancePolicy | undefined,
): void {
  for (const { store, at } of after?.backups ?? []) {
    if (before?.backups?.some((known) => known.at === at)) continue
    countBackup(metrics, store, before?.backupRun?.askedAt, at)
  }
  const store = spec.backup?.store ?? policy?.spec.backupStores?.[0]?.name
  const failures = after?.backupRun?.failures ?? []
  const isNew = failures.length > 0 && !before?.backupRun?.failures.some(({ at }) => at === failures.at(-1)?.at)
  if (isNew && store !== undefined) metrics.add('slipway_backups_total', { store, outcome: 'Failed' })
}

function countStoreBackups(
  metrics: Metrics,
  { status: before }: MaintenancePolicy,
  { status: after }: MaintenancePolicy,
): void {
  for (const { store, lastSuccess, lastFailure } of after?.backups ?? []) {
    const known = before?.backups?.find((record) => record.store === store)
    if (lastSuccess && lastSuccess.at !== known?.lastSuccess?.at) {
      countBackup(metrics, store, known?.run?.askedAt, lastSuccess.at)
    }
    if (lastFailure && lastFailure.at !== known?.lastFailure?.at) {
      metrics.add('slipway_backups_total', { store, outcome: 'Failed' })
    }
  }
}

function countBackup(metrics: Metrics, store: string, askedAt: string | undefined, at: string): void {
  metrics.add('slipway_backups_total', { store, outcome: 'Succeeded' })
  if (askedAt !== undefined) metrics.observe('slipway_backup_duration_seconds', { store }, seconds(askedAt, at))
}

function countGrants(metrics: Metrics, before: MaintenancePolicy, after: MaintenancePolicy, nowMs: number): void {
  const old = before.status?.ledger?.grants ?? []
  const now = after.status?.ledger?.grants ?? []
  if (old.length === 0 && now.length === 0) return
  const key = ({ node, nodeUID, since }: (typeof now)[number]) => `${node} ${nodeUID} ${since}`
  const known = new Set(old.map(key))
  const left = new Set(now.map(key))
  for (const grant of now) {
    if (!known.has(key(grant))) metrics.add('slipway_grants_total', { kind: kindOf(grant.holder) })
  }
  for (const grant of old) {
    if (left.has(key(grant))) continue
    metrics.observe('slipway_node_outage_seconds', {}, (nowMs - Date.parse(grant.since)) / 1000)
  }
}

function kindOf(holder: string): OperationKind {
  if (holder.startsWith(maintenancePrefix)) return 'Maintenance'
  return holder.startsWith(profilePrefix) ? 'NodeProfile' : 'DirectUpdate'
}

function isEnd(phase: string): phase is Ended {
  return phase === 'Succeeded' || phase === 'Failed' || phase === 'Cancelled'
}

function seconds(from: string, to: string): number {
  return Math.max(0, (Date.parse(to) - Date.parse(from)) / 1000)
}
