// Which nodes lag, behind what and since when. What nobody recorded is said to be unknown: nothing here is guessed.

import type { DirectUpdate } from '../../api/direct-update.ts'
import type { Node } from '../../api/kube.ts'
import type { NodeState } from '../../api/node-state.ts'
import { naturalOrder } from '../natural-order.ts'
import { type Role, roleOf } from '../node/node-facts.ts'
import { isChosen } from '../update/is-chosen.ts'
import { ownerOfOperation } from '../update/operation.ts'
import { isOfRun, stepID } from '../update/path-step.ts'
import { compareVersions, parseVersion } from '../version.ts'

export interface LagView {
  readonly now: Date
  readonly nodes: readonly Node[]
  readonly stateOf: (node: string) => NodeState | undefined
  readonly updates: readonly DirectUpdate[]
  /** The version a person holds the nodes against. */
  readonly target?: string | undefined
  /** By when every node had to be up to date. */
  readonly patchedBy?: Date | undefined
}

/** What a node is behind with; without `since` nobody knows since when. */
export interface Lag {
  readonly what: 'Kubernetes' | 'Reboot' | 'Maintenance' | 'Drift'
  readonly detail: string
  readonly since?: string
}

export type Verdict = 'UpToDate' | 'Lagging' | 'Unknown'

/**
 * Met: up to date by the date. Late: it is now, but was not then. Overdue: the date has passed and it still lags.
 * Due: it lags, and there is time left. Unknown: nobody recorded when it was brought up to date, or what it runs.
 */
export type Punctuality = 'Met' | 'Late' | 'Overdue' | 'Due' | 'Unknown'

export interface NodeLag {
  readonly node: string
  readonly role: Role
  readonly verdict: Verdict
  readonly kubelet?: string
  readonly os?: string
  readonly kernel?: string
  readonly lags: readonly Lag[]
  /** The earliest of what is known. */
  readonly since?: string
  readonly lastUpdate?: { readonly name: string; readonly at: string }
  readonly patchedBy?: Punctuality
}

export interface LagReport {
  readonly at: string
  readonly target?: { readonly version: string; readonly source: 'Asked' | 'NewestOnOffer' }
  readonly patchedBy?: string
  readonly summary: {
    readonly total: number
    readonly upToDate: number
    readonly lagging: number
    readonly unknown: number
    /** Nodes that missed the date: overdue and late. */
    readonly missed?: number
  }
  readonly nodes: readonly NodeLag[]
}

export function lagReport(view: LagView): LagReport {
  const target = targetOf(view)
  const nodes = view.nodes.map((node) => nodeLag(view, node, target?.version)).sort(worstFirst(naturalOrder()))
  const count = (verdict: Verdict) => nodes.filter((node) => node.verdict === verdict).length
  const missed = nodes.filter(({ patchedBy }) => patchedBy === 'Overdue' || patchedBy === 'Late').length
  return {
    at: view.now.toISOString(),
    ...(target && { target }),
    ...(view.patchedBy && { patchedBy: view.patchedBy.toISOString() }),
    summary: {
      total: nodes.length,
      upToDate: count('UpToDate'),
      lagging: count('Lagging'),
      unknown: count('Unknown'),
      ...(view.patchedBy && { missed }),
    },
    nodes,
  }
}

/** What was asked for, else the newest release that any host has on offer or runs. */
function targetOf({ target, nodes, stateOf }: LagView): LagReport['target'] {
  if (target !== undefined) return { version: parseVersion(target)?.text ?? target, source: 'Asked' }
  const offered = nodes.flatMap(({ metadata }) => stateOf(metadata.name)?.status?.agent?.facts.versionsOnOffer ?? [])
  const releases = offered.filter((version) => !version.includes('-'))
  if (releases.length === 0) return undefined
  const newest = [...releases, ...nodes.flatMap((node) => kubeletOf(node) ?? [])].reduce((a, b) =>
    compareVersions(a, b) < 0 ? b : a,
  )
  return { version: parseVersion(newest)?.text ?? newest, source: 'NewestOnOffer' }
}

function nodeLag(view: LagView, node: Node, target: string | undefined): NodeLag {
  const { name } = node.metadata
  const state = view.stateOf(name)
  const facts = state?.status?.agent?.facts
  const kubelet = kubeletOf(node) ?? facts?.kubelet
  const [os, kernel] = [
    facts?.os ?? node.status?.nodeInfo?.osImage,
    facts?.kernel ?? node.status?.nodeInfo?.kernelVersion,
  ]
  const lags = [...versionLag(view, node, kubelet, target), ...hostLags(state)]
  const lastUpdate = lastUpdateOf(state)
  // Without a version to hold it against, or a word from its host, a node that shows no lag may still have one.
  const isKnown = kubelet !== undefined && target !== undefined && facts !== undefined
  const verdict: Verdict = lags.length > 0 ? 'Lagging' : isKnown ? 'UpToDate' : 'Unknown'
  const since = lags.flatMap((lag) => lag.since ?? []).sort()[0]
  return {
    node: name,
    role: roleOf(node),
    verdict,
    ...(kubelet !== undefined && { kubelet }),
    ...(os !== undefined && { os }),
    ...(kernel !== undefined && { kernel }),
    lags,
    ...(since !== undefined && { since }),
    ...(lastUpdate && { lastUpdate }),
    ...(view.patchedBy && { patchedBy: punctuality(view, verdict, state, { by: view.patchedBy, target }) }),
  }
}

function kubeletOf({ status }: Node): string | undefined {
  return status?.nodeInfo?.kubeletVersion
}

/** Since an update asked for this version on this node; nobody records when a version came on offer. */
function versionLag(
  { updates }: LagView,
  node: Node,
  kubelet: string | undefined,
  target: string | undefined,
): readonly Lag[] {
  if (kubelet === undefined || target === undefined || compareVersions(kubelet, target) >= 0) return []
  const asked = updates
    .filter((update) => wanted(update) !== undefined && compareVersions(wanted(update) ?? '', target) >= 0)
    .filter(({ spec }) => isChosen(spec, node))
    .map(({ metadata }) => metadata.creationTimestamp)
    .sort()[0]
  return [{ what: 'Kubernetes', detail: `${kubelet}, behind ${target}`, ...(asked !== undefined && { since: asked }) }]
}

function wanted({ spec, status }: DirectUpdate): string | undefined {
  return status?.path?.target ?? spec.kubernetes?.version
}

function hostLags(state: NodeState | undefined): readonly Lag[] {
  const agent = state?.status?.agent
  if (!agent) return []
  const { facts, sentinels, profile } = agent
  const reboot = facts.rebootRequired ?? (sentinels?.rebootRequired && 'a file on the host asks for it')
  const drift = profile?.drift ?? []
  return [
    ...(reboot === undefined ? [] : [lag('Reboot', reboot, sentinels?.rebootRequired)]),
    ...(sentinels?.maintenanceRequired === undefined
      ? []
      : [lag('Maintenance', 'a file on the host asks for it', sentinels.maintenanceRequired)]),
    ...(drift.length === 0 ? [] : [lag('Drift', drift.map(({ item }) => item).join(', '), profile?.checkedAt)]),
  ]
}

function lag(what: Lag['what'], detail: string, since: string | undefined): Lag {
  return { what, detail, ...(since !== undefined && { since }) }
}

/** The last update that came to its end on this node, as far as its NodeState remembers. */
function lastUpdateOf(state: NodeState | undefined): NodeLag['lastUpdate'] {
  const rollout = state?.status?.rollout
  if (rollout?.phase !== 'Done' || (rollout.kind ?? 'DirectUpdate') !== 'DirectUpdate') return undefined
  return { name: rollout.update, at: rollout.finishedAt ?? rollout.since }
}

interface Goal {
  readonly by: Date
  readonly target: string | undefined
}

function punctuality(view: LagView, verdict: Verdict, state: NodeState | undefined, goal: Goal): Punctuality {
  const { by } = goal
  if (verdict === 'Unknown') return 'Unknown'
  if (verdict === 'Lagging') return view.now > by ? 'Overdue' : 'Due'
  if (view.now <= by) return 'Met'
  const last = lastUpdateOf(state)
  if (last && Date.parse(last.at) <= by.getTime()) return 'Met'
  // The last one may have found it up to date: what others did before counts as well.
  const before = (state?.status?.completed ?? []).map((id) => earlierRun(view.updates, id, goal))
  const all = last && mayBringVersion(view.updates, last.name) ? [...before, 'Late'] : before
  return (['Met', 'Unknown', 'Late'] as const).find((one) => all.includes(one)) ?? 'Unknown'
}

function mayBringVersion(updates: readonly DirectUpdate[], name: string): boolean {
  const update = updates.find(({ metadata }) => metadata.name === name)
  return update === undefined || update.spec.kubernetes !== undefined
}

/** Whether the run that the node is done for brought it to the target by the date; undefined where it brought no version at all. */
function earlierRun(
  updates: readonly DirectUpdate[],
  id: string,
  { by, target }: Goal,
): 'Met' | 'Late' | 'Unknown' | undefined {
  if (ownerOfOperation(id).includes(':')) return undefined
  const update = updates.find(({ status }) => status?.operationID !== undefined && isOfRun(id, status.operationID))
  if (update && update.spec.kubernetes === undefined) return undefined
  const earlier = updates.flatMap(({ status }) => status?.history ?? []).find((run) => isOfRun(id, run.operationID))
  const { startedAt, finishedAt } = update?.status ?? earlier ?? {}
  if (startedAt !== undefined && Date.parse(startedAt) > by.getTime()) return 'Late'
  const version = update && broughtBy(update, id)
  if (version === undefined || target === undefined) return 'Unknown'
  if (compareVersions(version, target) < 0) return 'Late'
  return finishedAt !== undefined && Date.parse(finishedAt) <= by.getTime() ? 'Met' : 'Unknown'
}

/** Of a run before the present one nobody says it. */
function broughtBy(update: DirectUpdate, id: string): string | undefined {
  const { operationID = '', path } = update.status ?? {}
  const steps = path?.steps ?? [wanted(update)]
  return steps.find((_version, index) => stepID(operationID, { index, of: steps.length }) === id)
}

const urgency: Readonly<Record<Verdict, number>> = { Lagging: 0, Unknown: 1, UpToDate: 2 }

/** Of those that lag the one that has for longest, then those of which nobody knows since when. */
function worstFirst(inOrder: (a: string, b: string) => number) {
  return (a: NodeLag, b: NodeLag) =>
    urgency[a.verdict] - urgency[b.verdict] || sinceMs(a) - sinceMs(b) || inOrder(a.node, b.node)
}

function sinceMs({ since }: NodeLag): number {
  return since === undefined ? Number.MAX_SAFE_INTEGER : Date.parse(since)
}
