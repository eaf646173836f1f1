// Rule 9: where a backup is required, no control-plane node is taken, and no order runs there, before one was made for this very
// operation and version, stored and checked by an agent, and recorded.

import type { UpdateBackup } from '../../api/backup-plan.ts'
import type { DirectUpdate } from '../../api/direct-update.ts'
import type { MaintenancePolicy } from '../../api/maintenance-policy.ts'
import type { NodeState } from '../../api/node-state.ts'
import type { CommittedChange } from '../server/object-store.ts'
import { isOperator, type Report, type Slack } from './rule.ts'
import type { Truth } from './truth.ts'

const unitMs = { h: 3_600_000, m: 60_000, s: 1_000 }

export function judgeBackups(change: CommittedChange, truth: Truth, slack: Slack, report: Report): void {
  if (!change.after || !isOperator(change.client)) return
  if (change.kind === 'MaintenancePolicy') judgeTaking(change, truth, slack, report)
  if (change.kind === 'NodeState') judgeRunning(change, truth, slack, report)
}

function judgeTaking({ before, after, time }: CommittedChange, truth: Truth, slack: Slack, report: Report): void {
  const grantsOf = (policy: unknown) => (policy as MaintenancePolicy | undefined)?.status?.ledger?.grants ?? []
  const held = new Set(grantsOf(before).map(({ node, holder }) => `${node} ${holder}`))
  for (const { node, holder, since } of grantsOf(after)) {
    if (held.has(`${node} ${holder}`) || !truth.controlPlane.has(node)) continue
    // Booking a node that is out already takes nothing away: a lost ledger is being written again.
    if (truth.nodes.get(node)?.unavailableSince !== undefined) continue
    const update = truth.updates.get(holder.slice(0, holder.indexOf('/')))
    if (!update || !isRequired(update, truth, time, slack)) continue
    const made = backupsFor(update, truth)
    const mostMs = ageOf(update.spec.backup?.maxAge ?? '1h') + slack.requestMs
    // By the clock of whoever granted it: nobody has a better one.
    const isFresh = ({ at }: UpdateBackup) => Math.abs(Date.parse(since) - Date.parse(at)) <= mostMs
    if (!made.some(isFresh)) report(9, `${node} was granted to ${holder} without a good backup of etcd`)
  }
}

function judgeRunning({ before, after, time }: CommittedChange, truth: Truth, slack: Slack, report: Report): void {
  const was = (before as NodeState | undefined)?.spec.order
  const order = (after as NodeState).spec.order
  if (order?.desired !== 'Run' || order.role !== 'ControlPlane' || order.kind !== undefined) return
  if (was?.id === order.id && was.desired === 'Run') return
  const update = truth.updates.get(order.update)
  if (!update || !isRequired(update, truth, time, slack)) return
  const { kubernetes } = order.work
  const wanted = kubernetes ? `ControlPlane ${kubernetes.version}` : 'ControlPlane'
  if (!backupsFor(update, truth).some(({ step }) => step === wanted))
    report(9, `order ${order.id} may run on ${after?.metadata.name} without a good backup of etcd`)
}

function isRequired({ spec }: DirectUpdate, { stores }: Truth, time: number, { staleMs }: Slack): boolean {
  const { etcd = 'IfConfigured', before = ['ControlPlane'] } = spec.backup ?? {}
  if (!before.includes('ControlPlane') || etcd === 'Never') return false
  if (etcd === 'Required') return true
  const touches = spec.kubernetes ?? spec.os ?? spec.binary
  return touches !== undefined && stores.names.length > 0 && time - stores.since > staleMs
}

/** What is on record and true. */
function backupsFor({ status }: DirectUpdate, truth: Truth): readonly UpdateBackup[] {
  return (status?.backups ?? []).filter(
    ({ step, store, sha256 }) => step.startsWith('ControlPlane') && truth.stored.has(`${store} ${sha256}`),
  )
}

/** Of one unit, as the runs have it. */
function ageOf(text: string): number {
  const [, count, unit] = /^(\d+)([hms])$/.exec(text) ?? []
  return count === undefined ? Number.POSITIVE_INFINITY : Number(count) * unitMs[unit as keyof typeof unitMs]
}
