// What a rollout looks like to a person: pure, from one snapshot of the API, so that every renderer shows the same.

import { asOffered } from '../../api/console-words.ts'
import type { DirectUpdate, UpdatePhase } from '../../api/direct-update.ts'
import type { Node } from '../../api/kube.ts'
import type { NodePhase, NodeState } from '../../api/node-state.ts'
import type { Reason } from '../../api/reason.ts'
import { naturalOrder } from '../../core/natural-order.ts'
import { type Role, roleOf } from '../../core/node/node-facts.ts'
import { runningStep } from '../../core/node/running-step.ts'
import { isEnded, isOver, type Refusal, refusal } from '../../core/update/outcome.ts'
import { isOfRun, stepText } from '../../core/update/path-step.ts'
import { targetText } from '../../core/update/target-text.ts'
import type { RolloutSnapshot } from './sink.ts'

export interface NodeProgress {
  readonly name: string
  readonly role: Role
  readonly phase: NodePhase
  readonly since: string | undefined
  /** The step the agent is at. */
  readonly step: string | undefined
  readonly drain: { readonly total: number; readonly left: number } | undefined
  readonly reason: Reason | undefined
}

export interface Counts {
  readonly total: number
  readonly done: number
  /** With those that need a person. */
  readonly working: number
  readonly attention: number
  readonly waiting: number
  readonly failed: number
  readonly skipped: number
}

export interface WaveProgress {
  readonly title: 'control plane' | 'workers'
  readonly nodes: readonly NodeProgress[]
  readonly counts: Counts
}

/** Nodes that wait in the same phase for the same thing. */
export interface Wait {
  readonly nodes: readonly string[]
  readonly phase: NodePhase
  readonly reason: Reason
}

export interface ProgressView {
  readonly name: string
  readonly phase: UpdatePhase | 'Deleting'
  readonly ended: boolean
  readonly current: string | undefined
  readonly target: string
  readonly startedAt: string | undefined
  readonly finishedAt: string | undefined
  readonly now: Date
  readonly counts: Counts
  readonly waves: readonly WaveProgress[]
  readonly waits: readonly Wait[]
  readonly refusal: Refusal | undefined
  readonly paused: boolean
  /** Which wave of workers, and what it waits for; what a person told the update to do. */
  readonly course: string | undefined
  readonly grants: number
}

export function progressView(snapshot: RolloutSnapshot): ProgressView {
  const { update, policy, now } = snapshot
  const nodes = nodesOf(snapshot)
  const counted = countsOf(nodes)
  const { status } = update
  return {
    name: update.metadata.name,
    phase: update.metadata.deletionTimestamp ? 'Deleting' : (status?.phase ?? 'Pending'),
    ended: isEnded(update),
    current: status?.path?.current,
    target: targetText(update),
    startedAt: status?.startedAt ?? update.metadata.creationTimestamp,
    finishedAt: status?.finishedAt,
    now,
    // A later update takes the NodeStates over; what an ended one came to stands in its own summary.
    counts: isOver(update) || snapshot.nodes.length === 0 ? { ...counted, ...status?.summary } : counted,
    waves: waveTitles.flatMap(([title, role]) => {
      const members = nodes.filter((node) => node.role === role)
      return members.length === 0 ? [] : [{ title, nodes: members, counts: countsOf(members) }]
    }),
    waits: waitsOf(snapshot.inMemory ? nodes.map(atConsole) : nodes),
    refusal: refusal(update),
    paused: policy?.spec.paused ?? false,
    course: courseOf(update, snapshot.inMemory ?? false),
    grants: policy?.status?.ledger?.grants.length ?? 0,
  }
}

function atConsole(node: NodeProgress): NodeProgress {
  const { reason } = node
  return reason ? { ...node, reason: { ...reason, message: asOffered(reason.message, ' in the console') } } : node
}

function courseOf({ metadata, spec, status }: DirectUpdate, inMemory: boolean): string | undefined {
  if (status?.phase === 'Succeeded' || status?.phase === 'Failed' || status?.phase === 'Cancelled') return undefined
  if (spec.desiredState === 'Cancelled') return 'being cancelled'
  if (spec.desiredState === 'Paused') {
    return inMemory ? 'paused; go on in the console' : `paused; go on with: slipway resume ${metadata.name}`
  }
  return (
    [stepOf(status), waveOf(metadata.name, inMemory, status)].filter((part) => part !== undefined).join('; ') ||
    undefined
  )
}

/** Which of the versions on its path it is at; undefined where there is only one. */
export function stepOf({ path }: NonNullable<DirectUpdate['status']> = {}): string | undefined {
  const { steps = [], step: index = 0 } = path ?? {}
  return steps.length > 1 ? stepText({ index, of: steps.length, version: steps[index] ?? '' }) : undefined
}

function waveOf(
  update: string,
  inMemory: boolean,
  { wave }: NonNullable<DirectUpdate['status']> = {},
): string | undefined {
  if (!wave || wave.of === 1) return undefined
  const title = `wave ${wave.index + 1} of ${wave.of}, ${wave.size} ${wave.size === 1 ? 'worker' : 'workers'} in all`
  if (wave.promotion && inMemory)
    return `${title}: done; approve them in the console, or a colleague does so in a while`
  if (wave.promotion) return `${title}: done; look at them, then: slipway approve ${update}`
  return wave.soakUntil === undefined ? title : `${title}: done; looked at until ${wave.soakUntil}`
}

const waveTitles = [
  ['control plane', 'ControlPlane'],
  ['workers', 'Worker'],
] as const

function nodesOf({ update, nodes, nodeStates }: RolloutSnapshot): readonly NodeProgress[] {
  const states = new Map<string, NodeState>()
  for (const state of nodeStates) if (belongsTo(state, update)) states.set(state.metadata.name, state)
  const listed = new Map((update.status?.nodes ?? []).map((entry) => [entry.name, entry]))
  const known = new Map<string, Node | undefined>()
  // Selected nodes that an ended update has no word about were taken over by a later one.
  const isLeftOut = (name: string) => update.spec.skip?.includes(name) && !states.has(name)
  for (const node of nodes) {
    const { name } = node.metadata
    if (isOver(update) ? states.has(name) : !isLeftOut(name)) known.set(name, node)
  }
  for (const name of [...states.keys(), ...listed.keys()]) if (!known.has(name)) known.set(name, undefined)
  const inOrder = naturalOrder()
  return [...known]
    .map(([name, node]) => nodeProgress(name, node, states.get(name), listed.get(name)))
    .sort((a, b) => inOrder(a.name, b.name))
}

type Listed = NonNullable<NonNullable<DirectUpdate['status']>['nodes']>[number]

function nodeProgress(
  name: string,
  node: Node | undefined,
  state: NodeState | undefined,
  listed: Listed | undefined,
): NodeProgress {
  const rollout = state?.status?.rollout
  const phase = rollout?.phase ?? listed?.phase ?? 'Pending'
  return {
    name,
    role: node ? roleOf(node) : (state?.spec.order?.role ?? 'Worker'),
    phase,
    since: rollout?.since ?? listed?.since,
    step: phase === 'Assigned' || phase === 'Working' ? runningStep(state) : undefined,
    drain: rollout?.drain && { total: rollout.drain.total, left: rollout.drain.left },
    // What the update lists may be older than the node's own state.
    reason: rollout ? (rollout.reason ?? rollout.drain?.pods[0]?.reason) : listed?.reason,
  }
}

function belongsTo(state: NodeState, update: DirectUpdate): boolean {
  const rollout = state.status?.rollout
  if (rollout?.update !== update.metadata.name) return false
  const operation = update.status?.operationID
  return operation === undefined || isOfRun(rollout.operationID, operation)
}

export type Standing = Exclude<keyof Counts, 'total'>

export function standingOf(phase: NodePhase): Standing {
  switch (phase) {
    case 'Done':
      return 'done'
    case 'Failed':
      return 'failed'
    case 'RequiresAttention':
      return 'attention'
    case 'Pending':
    case 'Staging':
      return 'waiting'
    case 'Draining':
    case 'Assigned':
    case 'Working':
    case 'Verifying':
      return 'working'
  }
}

function countsOf(nodes: readonly NodeProgress[]): Counts {
  const counts = { total: nodes.length, done: 0, working: 0, attention: 0, waiting: 0, failed: 0, skipped: 0 }
  for (const node of nodes) counts[standingOf(node.phase)] += 1
  return { ...counts, working: counts.working + counts.attention }
}

/** What a person should see first. */
export const urgency: Readonly<Record<Standing, number>> = {
  failed: 0,
  attention: 1,
  working: 2,
  waiting: 3,
  skipped: 4,
  done: 5,
}

function waitsOf(nodes: readonly NodeProgress[]): readonly Wait[] {
  const groups = new Map<string, { nodes: string[]; phase: NodePhase; reason: Reason }>()
  for (const { name, phase, reason } of nodes) {
    if (!reason || phase === 'Done') continue
    const key = `${phase}\n${reason.code}\n${reason.message}`
    const group = groups.get(key)
    if (group) group.nodes.push(name)
    else groups.set(key, { nodes: [name], phase, reason })
  }
  return [...groups.values()].sort((a, b) => urgency[standingOf(a.phase)] - urgency[standingOf(b.phase)])
}
