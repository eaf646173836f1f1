// What is told of the policy when somebody scrapes: slots, budgets, hours, backups, and how the cluster is.

import type { NodeState } from '../../api/node-state.ts'
import { workKinds } from '../../api/window.ts'
import { healthConditions } from '../../core/monitoring/health.ts'
import { Calendar, judgeTime } from '../../core/time/calendar.ts'
import type { Sample } from '../../ports/metrics.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { BudgetUse } from '../ledger/budget-sets.ts'
import { Count } from './count.ts'

const unix = (instant: string): number => Date.parse(instant) / 1000

export function* ledgerSamples(cluster: Cluster, budgets: Iterable<BudgetUse>, now: Date): Generator<Sample> {
  const { spec, status } = cluster.policy ?? {}
  const grants = status?.ledger?.grants ?? []
  const oldestMs = Math.min(now.getTime(), ...grants.map(({ since }) => Date.parse(since)))
  yield { name: 'slipway_ledger_grants', labels: {}, value: grants.length }
  yield { name: 'slipway_oldest_grant_seconds', labels: {}, value: (now.getTime() - oldestMs) / 1000 }
  yield { name: 'slipway_policy_paused', labels: {}, value: spec?.paused ? 1 : 0 }
  yield { name: 'slipway_roll_call_waiting', labels: {}, value: status?.rollCall?.left ?? 0 }
  for (const { budget, limit, used } of budgets) {
    yield { name: 'slipway_budget_limit', labels: { budget }, value: limit }
    yield { name: 'slipway_budget_used', labels: { budget }, value: used }
  }
}

export function* hourSamples(cluster: Cluster, now: Date): Generator<Sample> {
  const { windows, freezes } = cluster.policy?.spec ?? {}
  const calendar = new Calendar({ windows, freezes })
  const nowMs = now.getTime()
  for (const work of workKinds) {
    const { closed, againAtMs } = judgeTime([calendar], work, nowMs, undefined)
    const isOpen = !closed && calendar.problem === undefined
    const opensInMs = isOpen ? 0 : againAtMs === undefined ? -1000 : againAtMs - nowMs
    yield { name: 'slipway_window_open', labels: { work }, value: isOpen ? 1 : 0 }
    yield { name: 'slipway_window_opens_in_seconds', labels: { work }, value: opensInMs / 1000 }
    yield { name: 'slipway_frozen', labels: { work }, value: calendar.freezeAt(work, nowMs) ? 1 : 0 }
  }
}

export function* backupSamples(cluster: Cluster): Generator<Sample> {
  for (const { store, lastSuccess, lastFailure } of cluster.policy?.status?.backups ?? []) {
    const labels = { store }
    if (lastSuccess) {
      const at = unix(lastSuccess.at)
      yield { name: 'slipway_backup_last_success_timestamp_seconds', labels, value: at }
      yield { name: 'slipway_backup_size_bytes', labels, value: lastSuccess.bytes }
    }
    if (lastFailure) {
      yield { name: 'slipway_backup_last_failure_timestamp_seconds', labels, value: unix(lastFailure.at) }
    }
  }
}

export function* controlPlaneSamples(cluster: Cluster): Generator<Sample> {
  const servers = new Count<'Ready' | 'NotReady' | 'Unknown'>(['Ready', 'NotReady', 'Unknown'])
  const states = [...cluster.controlPlane].map((name) => cluster.states.get(name))
  for (const state of states) {
    const ready = state?.status?.agent?.controlPlane?.apiServer?.ready
    servers.add(ready === undefined ? 'Unknown' : ready ? 'Ready' : 'NotReady')
  }
  for (const [state, value] of servers) yield { name: 'slipway_api_servers', labels: { state }, value }
  for (const [state, value] of membersOf(states)) yield { name: 'slipway_etcd_members', labels: { state }, value }
  const expiries = states.flatMap((state) => state?.status?.agent?.facts.certificatesExpireAt ?? [])
  if (expiries.length > 0) {
    const value = Math.min(...expiries.map(unix))
    yield { name: 'slipway_certificates_expire_timestamp_seconds', labels: {}, value }
  }
  for (const condition of healthConditions) {
    const found = cluster.policy?.status?.conditions?.find(({ type }) => type === condition)
    if (!found) continue
    const value = found.status === 'True' ? 1 : found.status === 'False' ? 0 : -1
    yield { name: 'slipway_health', labels: { condition }, value }
  }
}

/** A member that anybody sees as sick is. */
function membersOf(states: readonly (NodeState | undefined)[]): Count<'Healthy' | 'Unhealthy'> {
  const healthy = new Map<string, boolean>()
  for (const state of states) {
    for (const member of state?.status?.agent?.controlPlane?.etcd.members ?? []) {
      healthy.set(member.id, member.healthy && (healthy.get(member.id) ?? true))
    }
  }
  const counts = new Count<'Healthy' | 'Unhealthy'>(['Healthy', 'Unhealthy'])
  for (const isHealthy of healthy.values()) counts.add(isHealthy ? 'Healthy' : 'Unhealthy')
  return counts
}
