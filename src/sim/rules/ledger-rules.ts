// Rules 1, 2, 8 and 10, judged where the right to disrupt is given: at the ledger's own write.

import type { BudgetSpec } from '../../api/budget.ts'
import type { DirectUpdate } from '../../api/direct-update.ts'
import type { Grant, MaintenancePolicy } from '../../api/maintenance-policy.ts'
import type { AgentOrder, NodeState } from '../../api/node-state.ts'
import { sameJson } from '../server/json.ts'
import type { CommittedChange } from '../server/object-store.ts'
import { isOperator, type Report, type Slack } from './rule.ts'
import type { Labels, Truth } from './truth.ts'

export function judgeLedger(change: CommittedChange, truth: Truth, slack: Slack, report: Report): void {
  if (change.kind !== 'MaintenancePolicy' || !change.after || !isOperator(change.client)) return
  const before = (change.before as MaintenancePolicy | undefined)?.status?.ledger
  const policy = change.after as MaintenancePolicy
  const after = policy.status?.ledger
  // Somebody wrote something else of the policy's status: that a restore of etcd took the ledger back is not the writer's doing.
  if (!after || sameJson(before, after)) return
  const lowest = Math.max(truth.epoch, before?.epoch ?? 0)
  if (after.epoch < lowest) report(11, `the ledger's epoch went back from ${lowest} to ${after.epoch}`)
  const held = new Set(before?.grants.map(slot))
  const added = after.grants.filter((grant) => !held.has(slot(grant)))
  for (const grant of added) {
    const other = after.grants.find(({ node, holder }) => node === grant.node && holder !== grant.holder)
    if (other) report(1, `${grant.node} was granted to ${grant.holder} while ${other.holder} holds it`)
    const record = truth.nodes.get(grant.node)
    // Booking a node that is out already takes nothing away: a lost ledger is being written again.
    const fresh = record !== undefined && record.unavailableSince === undefined
    if (!fresh) continue
    if (policy.spec.paused) report(8, `${grant.node} was granted while the policy is paused`)
    judgeHours(grant, policy, updateOf(grant, truth), slack, report)
    if (policy.spec.locks?.length && !truth.isLockOurs)
      report(1, `${grant.node} was granted while the lock of kured is not ours`)
    judgeBudgets(grant, policy, after.grants, truth, slack, change.time, report)
    judgeControlPlane(grant, after.grants, truth, slack, change.time, report)
    judgeFailures(grant, truth, slack, change.time, report)
  }
  judgeReturns(before?.grants ?? [], after.grants, truth, report)
}

/** By the clock of whoever granted it: nobody has a better one. Speaks of windows that open every so many minutes only. */
function judgeHours(
  { node, holder, since }: Grant,
  { spec }: MaintenancePolicy,
  update: DirectUpdate | undefined,
  { requestMs }: Slack,
  report: Report,
): void {
  // A word for the whole run is one for each step of its path.
  const run = update?.spec.runNow?.operationID
  if (run !== undefined && (holder === run || holder.startsWith(`${run}.`))) return
  // A pass over the ledger takes its time; what is near an edge is nobody's fault.
  const moments = [Date.parse(since), Date.parse(since) + requestMs]
  const windows = (spec.windows ?? []).flatMap(({ cron = '', duration = '' }) => {
    const [, every] = /^\*\/(\d+) \* \* \* \*$/.exec(cron) ?? []
    const [, open] = /^(\d+)m$/.exec(duration) ?? []
    return every === undefined || open === undefined ? [] : [{ every: Number(every), open: Number(open) }]
  })
  const isOpen = (ms: number) => windows.some(({ every, open }) => (Math.floor(ms / 60_000) % 60) % every < open)
  if (windows.length > 0 && !moments.some(isOpen)) report(8, `${node} was granted outside of all windows, at ${since}`)
  for (const { from, to, reason } of spec.freezes ?? []) {
    if (moments.every((ms) => ms >= Date.parse(from) && ms < Date.parse(to)))
      report(8, `${node} was granted inside the freeze "${reason}", at ${since}`)
  }
}

function judgeBudgets(
  grant: Grant,
  policy: MaintenancePolicy,
  grants: readonly Grant[],
  truth: Truth,
  { staleMs }: Slack,
  now: number,
  report: Report,
): void {
  const wasAway = new Set<string>()
  for (const name of truth.unavailable) {
    const since = truth.nodes.get(name)?.unavailableSince
    if (since !== undefined && now - since > staleMs) wasAway.add(name)
  }
  const away = new Set([...grants.map(({ node }) => node), ...wasAway])
  for (const budget of policy.spec.budgets ?? []) {
    // A label that a person changed just now may not be known yet: what holds by those of before is nobody's fault.
    const [byNow, byThen] = [labelsNow(truth), labelsKnown(truth, now - staleMs)].map((labelsOf) => {
      const members = membersWith(grant.node, budget, truth, labelsOf)
      const most = count(budget.maxUnavailable, members.size)
      const missing = [...away].filter((name) => members.has(name))
      if (!members.has(grant.node) || missing.length <= most) return undefined
      return `${grant.node} was granted with ${missing.length} of ${most} nodes away: ${missing.join(', ')}`
    })
    if (byNow && byThen) report(1, byNow)
  }
  // What hosts ask for goes one at a time where the policy says nothing, and counts all that are away, but no update that got
  // its node later in the same write: that one goes by limits of its own.
  const later = new Set(grants.slice(grants.indexOf(grant) + 1).map(({ node }) => node))
  const others = [...away].filter((node) => node !== grant.node && (wasAway.has(node) || !later.has(node)))
  if (!policy.spec.budgets?.length && grant.holder.startsWith(maintenance) && others.length > 0)
    report(
      1,
      `${grant.node} was granted for maintenance, without a budget, while others are away: ${others.join(', ')}`,
    )
  const update = updateOf(grant, truth)
  if (!update || now - (truth.specSince.get(update.metadata.name) ?? 0) < staleMs) return
  const { maxUnavailable = update.spec.strategy?.type === 'Parallel' ? '100%' : 1 } = update.spec.strategy ?? {}
  const limit = Math.max(1, count(maxUnavailable, truth.workers))
  const mine = grants.filter(
    ({ holder, node }) =>
      holder === grant.holder &&
      truth.states.get(node)?.status?.rollout?.phase !== 'Failed' &&
      truth.states.get(node)?.status?.rollout?.phase !== 'Done',
  )
  if (mine.length > limit) report(1, `${update.metadata.name} holds ${mine.length} nodes, its strategy allows ${limit}`)
}

/** The nodes that share this budget with the node, itself among them if it has to do with it at all. */
function membersWith(
  name: string,
  { per, nodeSelector }: BudgetSpec,
  { nodes }: Truth,
  labelsOf: (node: string) => Labels,
): ReadonlySet<string> {
  const value = per === undefined ? undefined : labelsOf(name)[per]
  const wanted = Object.entries(nodeSelector?.matchLabels ?? {})
  return new Set(
    [...nodes.keys()].filter((node) => {
      const labels = labelsOf(node)
      return (per === undefined || labels[per] === value) && wanted.every(([key, text]) => labels[key] === text)
    }),
  )
}

function labelsNow({ nodes }: Truth): (node: string) => Labels {
  return (node) => nodes.get(node)?.node.metadata.labels ?? {}
}

/** As everybody knows them who has heard all that happened until then. */
function labelsKnown(truth: Truth, untilMs: number): (node: string) => Labels {
  const now = labelsNow(truth)
  return (node) => {
    const { relabelled } = truth.nodes.get(node) ?? {}
    return relabelled && relabelled.at > untilMs ? relabelled.from : now(node)
  }
}

function judgeControlPlane(
  grant: Grant,
  grants: readonly Grant[],
  truth: Truth,
  { staleMs }: Slack,
  now: number,
  report: Report,
): void {
  if (!truth.controlPlane.has(grant.node)) return
  for (const name of truth.controlPlane) {
    if (name === grant.node) continue
    const granted = grants.some(({ node }) => node === name)
    const notReadySince = truth.nodes.get(name)?.notReadySince
    const dead = notReadySince !== undefined && now - notReadySince > staleMs
    if (granted || dead)
      report(2, `${grant.node} was granted while ${name} of the control plane is ${granted ? 'held' : 'not Ready'}`)
  }
}

/** A person has asked for another attempt since it failed: it counts again when that one fails. */
function isTriedAgain({ spec }: DirectUpdate, node: string, truth: Truth): boolean {
  const { retry } = spec
  if (!retry || (retry.nodes && !retry.nodes.includes(node))) return false
  return truth.states.get(node)?.status?.rollout?.retried !== retry.token
}

function judgeFailures(grant: Grant, truth: Truth, { requestMs }: Slack, now: number, report: Report): void {
  const update = updateOf(grant, truth)
  if (!update) return
  const failed = [...truth.failed].filter(
    (name) =>
      !update.spec.skip?.includes(name) &&
      !isTriedAgain(update, name, truth) &&
      truth.states.get(name)?.status?.rollout?.operationID === grant.holder &&
      now - (truth.phaseSince.get(name) ?? now) > requestMs,
  )
  const most = update.spec.strategy?.maxFailures ?? 0
  if (failed.length > most) {
    report(10, `${grant.node} was granted although ${failed.join(', ')} failed (maxFailures ${most})`)
  }
}

/** A slot comes back only when nothing of it can still disturb its node. */
function judgeReturns(before: readonly Grant[], after: readonly Grant[], truth: Truth, report: Report): void {
  const kept = new Set(after.map(slot))
  for (const grant of before) {
    if (kept.has(slot(grant))) continue
    const record = truth.nodes.get(grant.node)
    if (record?.node.metadata.uid !== grant.nodeUID) continue
    const state = truth.states.get(grant.node)
    const order = state?.spec.order
    const said = state?.status?.agent?.order
    const mayRun = (id: string | undefined) =>
      id?.startsWith(`${grant.holder}/`) && truth.released.has(`${grant.node} ${id}`)
    const unheard = mayRun(order?.id) && said?.id !== order?.id
    const unended = said !== undefined && mayRun(said.id) && !isOver(said, state)
    if (unheard || unended)
      report(1, `the slot of ${grant.node} was returned while ${grant.holder} may still run there`)
  }
}

/** Spelt out: rules must not believe the code they judge. */
const maintenance = 'maintenance:'
const spoken = new Set(['Succeeded', 'Failed', 'Withdrawn', 'Refused'])

/** An agent that is stuck goes on once it is repaired, where it does not find its order withdrawn, or done long ago. */
function isOver({ id, state: word }: AgentOrder, state: NodeState | undefined): boolean {
  if (spoken.has(word)) return true
  const { order } = state?.spec ?? {}
  const mayGoOn = order?.id === id && order.desired !== 'Withdraw' && state?.status?.rollout?.phase !== 'Done'
  return word === 'RequiresAttention' && !mayGoOn
}

function updateOf(grant: Grant, truth: Truth): DirectUpdate | undefined {
  return truth.updates.get(grant.holder.slice(0, grant.holder.indexOf('/')))
}

function slot({ node, nodeUID, holder }: Grant): string {
  return `${node} ${nodeUID} ${holder}`
}

function count(value: number | string, total: number): number {
  return typeof value === 'number' ? value : Math.max(1, Math.floor((Number.parseInt(value, 10) * total) / 100))
}
