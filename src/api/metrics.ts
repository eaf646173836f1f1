// Every Prometheus series of the operator. Labels have closed sets of values, or names that a schema bounds: no node, pod, update
// or message is ever a label. docs/reference/metrics.md is generated from this.

import { updatePhases } from './direct-update.ts'
import { controllerNames, type Metric, stepKinds } from './metric.ts'
import { nodePhases, operationKinds } from './node-state.ts'
import { notificationOutcomes } from './notification.ts'
import { type ReasonCode, reasonCatalogue } from './reason.ts'
import { workKinds } from './window.ts'

const codes = Object.keys(reasonCatalogue) as readonly ReasonCode[]
const stores = 'names of backup stores, eight at most'
const receivers = 'names of receivers, eight at most'
const roles = ['ControlPlane', 'Worker'] as const
const minutes = [10, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14_400]
const milliseconds = [0.001, 0.005, 0.025, 0.1, 0.25, 1, 2.5, 10, 30]

const nodesAndAgents = {
  slipway_nodes: {
    type: 'gauge',
    help: 'nodes, by role and by where their last operation stands; Idle = none was ever for them',
    labels: { role: roles, phase: ['Idle', ...nodePhases] },
  },
  slipway_nodes_unavailable: {
    type: 'gauge',
    help: 'nodes that nothing new can run on: under work, cordoned by a person, or not Ready',
    labels: { cause: ['Work', 'Person', 'NotReady'] },
  },
  slipway_nodes_on_hold: { type: 'gauge', help: 'nodes that a person holds' },
  slipway_nodes_in_trouble: {
    type: 'gauge',
    help: 'nodes that failed or need a person, by the code of the reason',
    labels: { code: codes },
  },
  slipway_nodes_drifted: { type: 'gauge', help: 'nodes that are not as their NodeProfiles want them' },
  slipway_reboots_wanted: { type: 'gauge', help: 'nodes whose operating system or sentinel file asks for a reboot' },
  slipway_kubelets_behind: {
    type: 'gauge',
    help: 'kubelets by how many minor versions they are behind the oldest API server',
    labels: { minors: ['0', '1', '2', '3', 'more'] },
  },
  slipway_agents: {
    type: 'gauge',
    help: 'agents by state: Missing = a Ready node without a report, Old = older than the operator',
    labels: { state: ['Reporting', 'Missing', 'Old'] },
  },
  slipway_node_results_total: {
    type: 'counter',
    help: 'how work on a node came out',
    labels: { kind: operationKinds, phase: ['Done', 'Failed', 'RequiresAttention'] },
  },
  slipway_node_outage_seconds: {
    type: 'histogram',
    help: 'from the slot to its return: how long a node was away for Slipway',
    buckets: minutes,
  },
  slipway_reboots_total: { type: 'counter', help: 'nodes that came back with another boot id while under work' },
} as const satisfies Record<string, Metric>

const updates = {
  slipway_updates: { type: 'gauge', help: 'DirectUpdates by phase', labels: { phase: updatePhases } },
  slipway_update_nodes: {
    type: 'gauge',
    help: 'nodes of the updates that have not ended',
    labels: { state: ['done', 'working', 'waiting', 'failed', 'skipped'] },
  },
  slipway_update_progress_ratio: {
    type: 'gauge',
    help: 'share of the nodes of all updates that have not ended which are done or skipped; 1 when there are none',
  },
  slipway_updates_ended_total: {
    type: 'counter',
    help: 'updates that came to an end',
    labels: { phase: ['Succeeded', 'Failed', 'Cancelled'] },
  },
  slipway_update_duration_seconds: {
    type: 'histogram',
    help: 'from the start of an update to its end',
    buckets: [60, 300, 900, 1800, 3600, 7200, 14_400, 43_200, 86_400, 259_200, 604_800],
  },
  slipway_waiting: {
    type: 'gauge',
    help: 'updates and nodes under work that wait, by the code of the reason',
    labels: { code: codes },
  },
  slipway_longest_wait_seconds: {
    type: 'gauge',
    help: 'for how long the first of them has waited',
    labels: { code: codes },
  },
  slipway_approvals_wanted: { type: 'gauge', help: 'updates whose next wave wants an approval' },
  slipway_gates_standing: {
    type: 'gauge',
    help: 'gates that do not hold',
    labels: { state: ['Waiting', 'Failed'] },
  },
  slipway_scheduled_runs_missed_total: { type: 'counter', help: 'runs of schedules that nobody could start in time' },
} as const satisfies Record<string, Metric>

const budgetsAndHours = {
  slipway_ledger_grants: { type: 'gauge', help: 'nodes the ledger counts as away for Slipway' },
  slipway_oldest_grant_seconds: { type: 'gauge', help: 'for how long the first of them has been away' },
  slipway_grants_total: { type: 'counter', help: 'slots given out', labels: { kind: operationKinds } },
  slipway_budget_limit: {
    type: 'gauge',
    help: 'nodes a budget lets be away; of one for each value of a label, the fullest',
    labels: { budget: 'budgets of the policy, sixteen at most' },
  },
  slipway_budget_used: {
    type: 'gauge',
    help: 'nodes away that the budget counts, whatever the cause',
    labels: { budget: 'budgets of the policy, sixteen at most' },
  },
  slipway_policy_paused: { type: 'gauge', help: '1 while the emergency stop of the policy is on' },
  slipway_window_open: {
    type: 'gauge',
    help: 'whether work of a kind may start now, by windows and freezes of the policy',
    labels: { work: workKinds },
  },
  slipway_window_opens_in_seconds: {
    type: 'gauge',
    help: 'until work of a kind may start; 0 = now, -1 = never again',
    labels: { work: workKinds },
  },
  slipway_frozen: { type: 'gauge', help: '1 while a freeze is on', labels: { work: workKinds } },
} as const satisfies Record<string, Metric>

const drainsAndSteps = {
  slipway_drains_total: {
    type: 'counter',
    help: 'drains begun, ended with an empty node, and given up',
    labels: { outcome: ['Started', 'Emptied', 'GivenUp'] },
  },
  slipway_drain_duration_seconds: { type: 'histogram', help: 'from the cordon to the empty node', buckets: minutes },
  slipway_drain_blocking_pods: {
    type: 'gauge',
    help: 'pods that hold up a drain, by the code of the reason',
    labels: { code: codes },
  },
  slipway_evictions_total: {
    type: 'counter',
    help: 'evictions asked for, by answer',
    labels: { result: ['Accepted', 'Refused', 'Gone'] },
  },
  slipway_forced_deletions_total: { type: 'counter', help: 'pods deleted by force because the drain settings say so' },
  slipway_orders_total: {
    type: 'counter',
    help: 'work orders by the last word of the agent',
    labels: { state: ['Succeeded', 'Failed', 'Withdrawn', 'Refused', 'RequiresAttention'] },
  },
  slipway_step_duration_seconds: {
    type: 'histogram',
    help: 'how long a step took on a host, by the driver it belongs to, by the host’s clock',
    labels: { step: stepKinds },
    buckets: minutes,
  },
  slipway_step_failures_total: {
    type: 'counter',
    help: 'steps that failed on a host, by the code of the reason',
    labels: { code: codes },
  },
} as const satisfies Record<string, Metric>

const clusterHealth = {
  slipway_api_servers: {
    type: 'gauge',
    help: 'control-plane nodes by what /readyz of their API server says; Unknown = no report',
    labels: { state: ['Ready', 'NotReady', 'Unknown'] },
  },
  slipway_etcd_members: {
    type: 'gauge',
    help: 'members of etcd, as the control-plane hosts see them',
    labels: { state: ['Healthy', 'Unhealthy'] },
  },
  slipway_certificates_expire_timestamp_seconds: {
    type: 'gauge',
    help: 'when the first certificate of the control plane runs out, as Unix time; absent = nobody told',
  },
  slipway_health: {
    type: 'gauge',
    help: 'conditions of MaintenancePolicy/default: 1 = True, 0 = False, -1 = Unknown',
    labels: { condition: ['ApiServersReady', 'NodesReady', 'CertificatesValid', 'BackupsRecent'] },
  },
  slipway_backup_last_success_timestamp_seconds: {
    type: 'gauge',
    help: 'when the last backup that belongs to no update was stored, as Unix time',
    labels: { store: stores },
  },
  slipway_backup_last_failure_timestamp_seconds: {
    type: 'gauge',
    help: 'when such a backup last failed, as Unix time',
    labels: { store: stores },
  },
  slipway_backup_size_bytes: { type: 'gauge', help: 'size of the last one, as stored', labels: { store: stores } },
  slipway_backups_total: {
    type: 'counter',
    help: 'backups of etcd, those for updates included',
    labels: { store: stores, outcome: ['Succeeded', 'Failed'] },
  },
  slipway_backup_duration_seconds: {
    type: 'histogram',
    help: 'from the question to the host until the backup was stored and checked',
    labels: { store: stores },
    buckets: minutes,
  },
  slipway_roll_call_waiting: {
    type: 'gauge',
    help: 'after a restore of etcd: agents that have not reported yet; nothing starts before',
  },
} as const satisfies Record<string, Metric>

const ownWork = {
  slipway_leading: {
    type: 'gauge',
    help: 'whether this replica holds the lease; only the one that does tells the rest',
  },
  slipway_terms_total: { type: 'counter', help: 'how often this replica began to lead' },
  slipway_reconciles_total: {
    type: 'counter',
    help: 'looks of the controllers, by outcome',
    labels: { controller: controllerNames, outcome: ['ok', 'retry'] },
  },
  slipway_reconcile_duration_seconds: {
    type: 'histogram',
    help: 'how long one look took',
    labels: { controller: controllerNames },
    buckets: milliseconds,
  },
  slipway_queue_depth: {
    type: 'gauge',
    help: 'keys that wait to be looked at',
    labels: { controller: controllerNames },
  },
  slipway_api_requests_total: {
    type: 'counter',
    help: 'requests to the Kubernetes API; status 0 = nobody answered',
    labels: { verb: 'verbs of the API', resource: 'kinds the operator reads or writes', status: 'HTTP status codes' },
  },
  slipway_api_request_duration_seconds: {
    type: 'histogram',
    help: 'how long the Kubernetes API took to answer; of watches, to begin',
    labels: { verb: 'verbs of the API' },
    buckets: milliseconds,
  },
  slipway_watch_failures_total: {
    type: 'counter',
    help: 'watches that broke and were begun again',
    labels: { resource: 'kinds the operator watches' },
  },
  slipway_watch_silence_seconds: { type: 'gauge', help: 'for how long the least lively watch has brought nothing' },
  slipway_notifications_total: {
    type: 'counter',
    help: 'messages to receivers: Sent, Retried, or GivenUp for good',
    labels: { receiver: receivers, outcome: notificationOutcomes },
  },
  slipway_silences: { type: 'gauge', help: 'silences in Alertmanager for nodes under work' },
  slipway_silence_requests_total: {
    type: 'counter',
    help: 'requests to Alertmanager to set, prolong or end one',
    labels: { outcome: ['Done', 'Failed'] },
  },
  slipway_audit_records_total: { type: 'counter', help: 'lines of the audit record' },
} as const satisfies Record<string, Metric>

export const metricGroups = {
  nodesAndAgents,
  updates,
  budgetsAndHours,
  drainsAndSteps,
  clusterHealth,
  ownWork,
} as const

export const metricCatalogue = {
  ...nodesAndAgents,
  ...updates,
  ...budgetsAndHours,
  ...drainsAndSteps,
  ...clusterHealth,
  ...ownWork,
} as const

type Catalogue = typeof metricCatalogue
export type MetricName = keyof Catalogue

type NamesOf<Type extends Metric['type']> = {
  [Name in MetricName]: Catalogue[Name]['type'] extends Type ? Name : never
}[MetricName]
export type GaugeName = NamesOf<'gauge'>
export type CounterName = NamesOf<'counter'>
export type HistogramName = NamesOf<'histogram'>

/** The labels of one series, each with the values it can have. */
export type LabelsOf<Name extends MetricName> = Catalogue[Name] extends { readonly labels: infer Labels }
  ? { readonly [Label in keyof Labels]: Labels[Label] extends readonly (infer Value)[] ? Value : string }
  : Readonly<Record<string, never>>
