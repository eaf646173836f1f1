// The nodes of one update, where each stands and in which wave it comes. A change of one node costs the look at that node; the
// order is made anew only when somebody joins, leaves or moves.

import type { DirectUpdate } from '../../api/direct-update.ts'
import type { Node } from '../../api/kube.ts'
import type { MaintenancePolicy } from '../../api/maintenance-policy.ts'
import type { NodeState } from '../../api/node-state.ts'
import { selects } from '../label-selector.ts'
import { type Role, roleOf } from '../node/node-facts.ts'
import { isEndedPhase, type Operation, operationOf } from '../update/operation.ts'
import { isOfRun } from '../update/path-step.ts'
import { isAtTarget, type Standing, standingOf } from '../update/standing.ts'
import { type Turn, turnKey, turnOrder, weightOf, zoneOf } from '../update/turn-order.ts'
import { type Strategy, strategyOf, waveLimit } from '../update/waves.ts'

export interface Member extends Turn {
  readonly standing: Standing
  /** When work on it began and when it was done, where that is known. */
  readonly startedMs?: number | undefined
  readonly finishedMs?: number | undefined
}

export interface RosterWave {
  readonly role: Role
  /** Which of the strategy's waves it is; the control plane is none of them. */
  readonly index: number
  readonly members: readonly Member[]
}

export class UpdateRoster {
  readonly operation: Operation
  readonly strategy: Strategy
  readonly isEnded: boolean
  readonly #update: DirectUpdate
  readonly #members = new Map<string, Member>()
  #order: readonly (readonly string[])[] | undefined
  #waveOf = new Map<string, number>()

  constructor(update: DirectUpdate, policy: MaintenancePolicy | undefined) {
    this.#update = update
    this.operation = operationOf(update, policy, '')
    this.strategy = strategyOf(update.spec.strategy)
    this.isEnded = isEndedPhase(update.status?.phase)
  }

  /** Rosters with the same mark have the same members. */
  static mark({ metadata, spec, status }: DirectUpdate): string {
    const { operationID = '', path, phase } = status ?? {}
    const parts = [metadata.uid, metadata.generation ?? 0, operationID, path?.step ?? 0, isEndedPhase(phase)]
    return `${parts.join(' ')} ${spec.skip?.join(',') ?? ''}`
  }

  /** True where it stands otherwise than before, or where waves may have moved. */
  note(name: string, node: Node | undefined, state: NodeState | undefined, isHeld: boolean): boolean {
    const before = this.#members.get(name)
    const after = node && this.#memberOf(node, state, isHeld, before)
    if (!before && !after) return false
    if (before && after && isSameMember(before, after)) return false
    if (after) this.#members.set(name, after)
    else this.#members.delete(name)
    if (turnMark(before) !== turnMark(after)) this.#order = undefined
    return true
  }

  get(name: string): Member | undefined {
    return this.#members.get(name)
  }

  get members(): IterableIterator<Member> {
    return this.#members.values()
  }

  /** Whether the waves were made anew since they were last asked for. */
  get isUnsorted(): boolean {
    return this.#order === undefined
  }

  waveOf(name: string): number | undefined {
    this.#sort()
    return this.#waveOf.get(name)
  }

  /** Without those there is nothing to do for. */
  waves(): readonly RosterWave[] {
    const order = this.#sort()
    const hasControlPlane = this.#members.get(order[0]?.[0] ?? '')?.role === 'ControlPlane'
    return order.map((names, at) => ({
      role: at === 0 && hasControlPlane ? 'ControlPlane' : 'Worker',
      index: hasControlPlane ? at - 1 : at,
      members: names.flatMap((name) => this.#members.get(name) ?? []),
    }))
  }

  #sort(): readonly (readonly string[])[] {
    if (this.#order) return this.#order
    const inTurn = turnOrder([...this.#members.values()].filter(({ standing }) => standing !== 'skipped'))
    const controlPlane = inTurn.filter(({ role }) => role === 'ControlPlane')
    const workers = inTurn.filter(({ role }) => role === 'Worker')
    const { waves } = this.strategy
    const ends = waves.map((_, index) => waveLimit(waves, index, workers.length))
    const lists = ends.map((end, index) => workers.slice(index === 0 ? 0 : ends[index - 1], end))
    const order = [...(controlPlane.length > 0 ? [controlPlane] : []), ...(workers.length > 0 ? lists : [])]
    this.#order = order.map((wave) => wave.map(({ name }) => name))
    this.#waveOf = new Map(this.#order.flatMap((names, wave) => names.map((name) => [name, wave] as const)))
    return this.#order
  }

  #memberOf(node: Node, state: NodeState | undefined, held: boolean, before: Member | undefined): Member | undefined {
    const { operation, isEnded } = this
    const { spec } = this.#update
    const takesWorkers = operation.step?.takesWorkers ?? true
    const standing = standingOf(node, state, {
      operation,
      held,
      // Whoever an ended update has no word about is none of its nodes any more.
      isMember: (one) =>
        !isEnded && selects(spec.nodeSelector, one.metadata.labels) && (takesWorkers || roleOf(one) === 'ControlPlane'),
      isDone: (one, its) => isAtTarget(operation, one, its),
      joinedByMs: undefined,
    })
    if (standing === undefined) return undefined
    const { name } = node.metadata
    const { first } = this.strategy
    const turn = { name, key: turnKey(name), role: roleOf(node), weight: weightOf(node, first), zone: zoneOf(node) }
    return { ...turn, standing, ...timesOf(operation, state, before) }
  }
}

/** Of a node that is past its drain only its steps tell when they began; what was seen before is remembered. */
function timesOf(
  operation: Operation,
  state: NodeState | undefined,
  before: Member | undefined,
): Pick<Member, 'startedMs' | 'finishedMs'> {
  const rollout = state?.status?.rollout
  if (!rollout || !isOfRun(rollout.operationID, operation.run ?? operation.id)) return {}
  const order = state.status?.agent?.order
  const [step] = order?.id.startsWith(rollout.operationID) ? order.steps : []
  const began = rollout.phase === 'Draining' ? rollout.since : step?.startedAt
  const startedMs = before?.startedMs ?? (began === undefined ? undefined : Date.parse(began))
  return {
    ...(startedMs !== undefined && { startedMs }),
    ...(rollout.finishedAt !== undefined && { finishedMs: Date.parse(rollout.finishedAt) }),
  }
}

function isSameMember(a: Member, b: Member): boolean {
  return (
    a.standing === b.standing &&
    a.startedMs === b.startedMs &&
    a.finishedMs === b.finishedMs &&
    turnMark(a) === turnMark(b)
  )
}

/** What decides the place in the order. */
function turnMark(member: Member | undefined): string {
  if (!member || member.standing === 'skipped') return ''
  return `${member.role} ${member.weight} ${member.zone}`
}
