// Everything that waits, by what is in its way: one entry for each cause, however many wait for it, with the way from what is
// seen to what is at the bottom of it.

import type { CauseView, NodeTile } from '../../api/console.ts'
import type { DirectUpdate, UpdateCondition } from '../../api/direct-update.ts'
import type { MaintenancePolicy } from '../../api/maintenance-policy.ts'
import type { NodeState } from '../../api/node-state.ts'
import { isReasonCode, type Reason, reasonCatalogue } from '../../api/reason.ts'
import { newestGood } from '../backup/newest-good.ts'
import { isInGoodOrder } from '../drain/in-good-order.ts'
import { fingerprint } from '../fingerprint.ts'
import { profilePrefix } from '../profile/operation-id.ts'
import { conditionOf, refusal } from '../update/outcome.ts'
import { titleOf, waitsFor } from './who-must-act.ts'

export interface CauseFacts {
  readonly updates: Iterable<DirectUpdate>
  readonly policy: MaintenancePolicy | undefined
  /** The tiles that wait for something. */
  readonly waiting: Iterable<NodeTile>
  readonly stateOf: (node: string) => NodeState | undefined
}

/** Of so many nodes the names are told; they may be thousands. */
const mostNodes = 200

/** Names end in a letter or digit; sentences go on with `:` or `;`. */
const budgetIn = /PodDisruptionBudget ([a-z0-9.-]+\/[a-z0-9.-]*[a-z0-9])/

type Because = CauseView['because'][number]

interface Found {
  readonly code: string
  readonly message: string
  readonly since?: string | undefined
  readonly nextCheck?: string | undefined
  readonly node?: string
  readonly update?: string | undefined
  readonly profile?: string | undefined
  /** What tells it from others of the same code; absent: there is one of them for each update. */
  readonly about?: string
  readonly because: readonly Because[]
  readonly command: string
}

export function causesOf(facts: CauseFacts): readonly CauseView[] {
  const causes = new Map<string, { readonly cause: Cause; readonly nodes: Set<string> }>()
  for (const found of findings(facts)) {
    const key = `${found.code}-${fingerprint([found.about ?? found.update ?? '']).slice(0, 8)}`
    const before = causes.get(key)
    const nodes = before?.nodes ?? new Set()
    if (found.node !== undefined) nodes.add(found.node)
    causes.set(key, { cause: added(before?.cause, key, found), nodes })
  }
  return [...causes.values()]
    .map(({ cause, nodes }) => ({ ...cause, nodes: [...nodes].slice(0, mostNodes), nodeCount: nodes.size }))
    .toSorted((a, b) => rank(a) - rank(b) || (a.since ?? '').localeCompare(b.since ?? ''))
}

type Cause = Omit<CauseView, 'nodes' | 'nodeCount'>

const order = { Person: 0, Cluster: 1, Clock: 2 } as const

function rank({ waitsFor: who }: CauseView): number {
  return order[who]
}

function added(before: Cause | undefined, key: string, found: Found): Cause {
  const { code, message, nextCheck, update, profile, because, command } = found
  const since = [before?.since, found.since].filter((one) => one !== undefined).toSorted()[0]
  const nextStep = isReasonCode(code) ? reasonCatalogue[code] : undefined
  const updates = before?.updates ?? []
  const profiles = before?.profiles ?? []
  return {
    key,
    code,
    title: titleOf(code),
    message: before?.message ?? message,
    waitsFor: waitsFor(code),
    ...(since !== undefined && { since }),
    ...(nextCheck === undefined ? before?.nextCheck !== undefined && { nextCheck: before.nextCheck } : { nextCheck }),
    updates: update === undefined || updates.includes(update) ? updates : [...updates, update],
    profiles: profile === undefined || profiles.includes(profile) ? profiles : [...profiles, profile],
    because: before?.because ?? because,
    ...(nextStep !== undefined && { nextStep }),
    command: before?.command ?? command,
  }
}

function* findings({ updates, policy, waiting, stateOf }: CauseFacts): Generator<Found> {
  const all = [...updates]
  if (policy) yield* policyFindings(policy, all)
  const byName = new Map<string, DirectUpdate>()
  const tiles = [...waiting]
  const own = new Set(tiles.filter((tile) => hasOwnCause(tile, stateOf(tile.name))).map(({ name }) => name))
  for (const update of all) {
    byName.set(update.metadata.name, update)
    yield* updateFindings(update, own)
  }
  for (const tile of tiles) yield* nodeFindings(tile, stateOf(tile.name), byName.get(tile.update ?? ''))
}

/** Others wait for what holds their update up, for one and the same cause. */
function hasOwnCause({ phase, reason }: NodeTile, state: NodeState | undefined): boolean {
  const pods = state?.status?.rollout?.drain?.pods ?? []
  return pods.length > 0 || phase === 'Failed' || phase === 'RequiresAttention' || reason?.code === 'NodeNotReady'
}

function* policyFindings({ spec, status }: MaintenancePolicy, updates: readonly DirectUpdate[]): Generator<Found> {
  if (spec.paused) {
    const message = 'MaintenancePolicy default is paused: nothing new starts anywhere'
    const because = [{ what: 'MaintenancePolicy default', detail: 'spec.paused is true' }]
    yield { code: 'PolicyPaused', message, because, command: 'slipway start --all' }
  }
  const { rollCall, backups = [] } = status ?? {}
  if (rollCall) {
    const because = [{ what: 'roll call', detail: `${rollCall.left} agents have not reported`, since: rollCall.since }]
    yield { ...told(rollCall.reason), because, command: 'slipway status' }
  }
  for (const record of backups) {
    const { store, lastFailure } = record
    if (!lastFailure || (newestGood(store, record, updates)?.at ?? '') > lastFailure.at) continue
    const because = [{ what: `backup store ${store}`, detail: lastFailure.reason.message, since: lastFailure.at }]
    yield { ...told(lastFailure.reason), about: store, because, command: `slipway backup list --store ${store}` }
  }
}

function* updateFindings(update: DirectUpdate, own: ReadonlySet<string>): Generator<Found> {
  const { metadata, spec, status } = update
  const { name } = metadata
  const command = `slipway why ${name}`
  const seen: Because = { what: `update ${name}`, detail: standing(update) }
  const refused = refusal(update)
  if (refused) {
    yield { ...refused, update: name, because: [seen, { what: 'the operator', detail: refused.message }], command }
    return
  }
  if (status?.phase === 'Succeeded' || status?.phase === 'Cancelled' || status?.phase === 'Planned') return
  if (spec.desiredState === 'Paused') {
    const message = `${name} is paused: what is under work is finished, nothing new starts`
    yield { code: 'UpdatePaused', message, update: name, because: [seen], command: `slipway resume ${name}` }
  }
  const told = new Set<string>(['Paused'])
  for (const condition of standstills(update)) {
    if (told.has(condition.reason)) continue
    told.add(condition.reason)
    const { reason: code, message, lastTransitionTime: since } = condition
    const nextCheck = code === 'WaveSoaking' ? status?.wave?.soakUntil : undefined
    const because = [seen, { what: `wave ${(status?.wave?.index ?? 0) + 1}`, detail: message, since }]
    const act = code === 'ApprovalWanted' ? `slipway approve ${name}` : command
    yield { code, message, since, nextCheck, update: name, because, command: act }
  }
  // Nodes that wait their turn: one of them speaks for all. What a node of its own waits for is told of that node, once.
  for (const { name: node, reason, since } of status?.nodes ?? []) {
    if (!reason || told.has(reason.code) || own.has(node)) continue
    told.add(reason.code)
    const because = [seen, { what: `node ${node}`, detail: reason.message, ...(since !== undefined && { since }) }]
    yield { ...reason, node, update: name, because, command }
  }
}

/** That it stands still says nothing more where it is said why. */
function standstills(update: DirectUpdate): readonly UpdateCondition[] {
  const holding = (...types: readonly string[]) =>
    types.flatMap((type) => conditionOf(update, type) ?? []).filter(({ status }) => status === 'True')
  const why = holding('Failed', 'Blocked')
  return why.length > 0 ? why : holding('Stalled')
}

function* nodeFindings(
  tile: NodeTile,
  state: NodeState | undefined,
  update: DirectUpdate | undefined,
): Generator<Found> {
  const { name, reason, phase, since, profile } = tile
  const rollout = state?.status?.rollout
  const seen: readonly Because[] = [
    ...(update ? [{ what: `update ${update.metadata.name}`, detail: standing(update) }] : []),
    ...(profile === undefined ? [] : [{ what: `NodeProfile ${profile}`, detail: 'rolls out by itself' }]),
    { what: `node ${name}`, detail: drainText(phase, state), ...(since !== undefined && { since }) },
  ]
  const common = { node: name, update: tile.update, profile, command: `slipway why ${name}` }
  for (const { pod, state: rung, reason: own } of rollout?.drain?.pods ?? []) {
    const budget = budgetIn.exec(own.message)?.[1]
    const held: Because = { what: `pod ${pod}`, detail: rung, ...(own.since !== undefined && { since: own.since }) }
    const bottom: Because = {
      what: budget === undefined ? titleOf(own.code) : `PodDisruptionBudget ${budget}`,
      detail: own.message,
    }
    yield { ...told(own), ...common, about: budget ?? pod, because: [...seen, held, bottom] }
  }
  // The node's own reason may be that of its first pod.
  if (!reason || isInGoodOrder(reason) || rollout?.drain?.pods.some((pod) => pod.reason.code === reason.code)) return
  const failed = state?.status?.agent?.order?.steps.find((step) => step.state === 'Failed')
  const bottom = failed ? [{ what: `step ${failed.name}`, detail: failed.reason?.message ?? 'failed' }] : []
  const because = [...seen, ...bottom, { what: titleOf(reason.code), detail: reason.message }]
  const holder = profile === undefined ? tile.update : `${profilePrefix}${profile}`
  const about = hasOwnCause(tile, state) && { about: `${holder} ${reason.code}` }
  yield { ...told(reason), ...common, ...about, because }
}

function told({ code, message, since, nextCheck }: Reason): Pick<Found, 'code' | 'message' | 'since' | 'nextCheck'> {
  return { code, message, since, nextCheck }
}

function standing({ status }: DirectUpdate): string {
  const { phase = 'Pending', summary } = status ?? {}
  return summary ? `${phase}: ${summary.done} of ${summary.total} nodes done` : phase
}

function drainText(phase: string, state: NodeState | undefined): string {
  const drain = state?.status?.rollout?.drain
  return phase === 'Draining' && drain ? `Draining, ${drain.left} of ${drain.total} pods left` : phase
}
