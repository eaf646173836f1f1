// The nodes of one running operation and where each stands, kept up to date change by change. Candidates come out in the
// order of the waves: control plane first; then the workers of the present wave, by weight, among equals those already away
// at the front and the operator's own node last.

import type { Node } from '../../api/kube.ts'
import type { NodeState } from '../../api/node-state.ts'
import type { Request } from '../../core/ledger/grants.ts'
import { isReady, isUnavailable, type Role, roleOf } from '../../core/node/node-facts.ts'
import type { StagingState } from '../../core/node/stage-node.ts'
import type { Counts } from '../../core/update/progress.ts'
import type { Standing } from '../../core/update/standing.ts'
import { turnKey, weightOf, zoneOf } from '../../core/update/turn-order.ts'
import type { WaveCounts } from '../../core/update/waves.ts'
import { type Member, MemberTally, type Reach } from './member-tally.ts'
import { WaveOrder } from './wave-order.ts'

export interface Judge {
  /** Undefined: not a node of this operation. */
  standing(node: Node, state: NodeState | undefined): Standing | undefined
  staging(node: Node, state: NodeState | undefined): StagingState
  /** Whether the operation has taken the node and not given it back. */
  isTaken(node: Node, state: NodeState | undefined): boolean
  /** Whether the operator itself runs there. */
  isOwnNode(name: string): boolean
  /** Names that come before all others of their role. */
  first?(): readonly string[]
}

export class MemberTable {
  readonly #judge: Judge
  readonly #members = new Map<string, Member>()
  readonly #order = new WaveOrder()
  readonly #tally = new MemberTally()

  constructor(judge: Judge) {
    this.#judge = judge
  }

  get counts(): Counts {
    return this.#tally.counts
  }

  /** Selected workers, for percentages. */
  get workers(): number {
    return this.#tally.workers
  }

  /** Those of them with something to do, or done. */
  get ranked(): number {
    return this.#order.workers
  }

  /** Which wave of workers may go: how many of so many it takes, with those before it. */
  openWave(takes: (workers: number) => number): void {
    this.#order.open(takes)
  }

  get wave(): WaveCounts {
    this.#sort()
    return this.#order.wave
  }

  /** Workers of the present wave that need a person. */
  get inNeed(): readonly string[] {
    this.#sort()
    const members = this.#inWave(this.#tally.byStanding.attention)
    return members.map(({ name }) => name)
  }

  /** A control-plane node failed or needs a person. */
  get controlPlaneBroken(): boolean {
    return this.#tally.isControlPlaneBroken
  }

  /** How many of those that failed or need a person keep what was taken for them. */
  get stuck(): number {
    return this.#tally.stuck
  }

  /** What counts against the operation's own limit in the present wave. */
  get counted(): number {
    return this.#tally.counted
  }

  /** Workers among them that count only because they are not Ready. */
  get countedNotReady(): ReadonlySet<string> {
    return this.#tally.countedNotReady
  }

  /** Whether nodes of the control plane are among them, done or not, and whether a worker was taken. */
  get reach(): Reach {
    return this.#tally.reach
  }

  get isAllDone(): boolean {
    const { done, skipped } = this.#tally.counts
    return done + skipped === this.#members.size
  }

  get inControlPlaneWave(): boolean {
    return this.#tally.isControlPlaneOpen
  }

  standing(name: string): Standing | undefined {
    return this.#members.get(name)?.standing
  }

  /** Whether it waits for its turn, and its wave has come. */
  isNext(name: string): boolean {
    this.#sort()
    return this.#inWave([name]).some(({ standing }) => standing === 'waiting')
  }

  /** Looks at one node again; true when something changed. */
  refresh(name: string, node: Node | undefined, state: NodeState | undefined): boolean {
    const before = this.#members.get(name)
    const standing = node && this.#judge.standing(node, state)
    if (!node || standing === undefined) {
      if (!before) return false
      this.#tally.add(before, -1)
      this.#members.delete(name)
      this.#order.replace(before, undefined)
      return true
    }
    const ready = isReady(node)
    const after: Member = {
      name,
      key: before?.key ?? turnKey(name),
      uid: node.metadata.uid,
      role: roleOf(node),
      weight: weightOf(node, this.#judge.first?.()),
      zone: zoneOf(node),
      ready,
      free: ready && isUnavailable(node),
      standing,
      taken: this.#judge.isTaken(node, state),
      staging: this.#judge.staging(node, state),
    }
    if (before && same(before, after)) return false
    if (before) this.#tally.add(before, -1)
    this.#members.set(name, after)
    this.#tally.add(after, 1)
    this.#order.replace(before, after)
    return true
  }

  /** The nodes that may go next, in turn; nodes that are not Ready are waited for, not worked on. */
  *candidates(): Generator<Request> {
    this.#sort()
    const free = this.#freeInTurn()
    let equals: { readonly weight: number; readonly last: Member[] } | undefined
    for (let turn = this.#firstWaiting(); turn < this.#order.end; turn++) {
      const member = this.#members.get(this.#order.names[turn] ?? '')
      if (member?.standing !== 'waiting') continue
      if (member.role !== this.#role) break
      if (member.weight !== equals?.weight) {
        yield* (equals?.last ?? []).map(requestOf)
        equals = { weight: member.weight, last: [] }
        yield* free.filter(({ weight }) => weight === member.weight).map(requestOf)
      }
      if (!member.ready || member.free) continue
      if (this.#judge.isOwnNode(member.name)) equals.last.push(member)
      else yield requestOf(member)
    }
    yield* (equals?.last ?? []).map(requestOf)
  }

  /** As `candidates`, but only those that have staged. There are few of them at a time. */
  *staged(): Generator<Request> {
    this.#sort()
    const place = ({ name, free }: Member) => (free ? 0 : this.#judge.isOwnNode(name) ? 2 : 1)
    const placed = this.#inWave(this.#tally.staging.ready)
      .filter(({ ready }) => ready)
      .map((member) => ({ member, weight: member.weight, place: place(member), turn: this.#order.turn(member) }))
    placed.sort((a, b) => b.weight - a.weight || a.place - b.place || a.turn - b.turn)
    for (const { member } of placed) yield requestOf(member)
  }

  hasStaged(name: string): boolean {
    return this.#tally.staging.ready.has(name)
  }

  isStaging(name: string): boolean {
    return Object.values(this.#tally.staging).some((names) => names.has(name))
  }

  /** Names of those that are so far with staging, a few of them. */
  stagingNames(state: Exclude<StagingState, 'no'>, limit: number): readonly string[] {
    return first(this.#tally.staging[state], limit)
  }

  /**
   * The next nodes to stage, so that `ahead` of them that could go do or have. The first workers may while the control plane has
   * its turn, but never keep it from that; later waves are not touched. A node that is not Ready, or may not, keeps nobody.
   * `isKept`: it could not go now; it stages where those that could leave room, and takes none of theirs.
   */
  nextToStage(
    ahead: number,
    may: (name: string) => boolean = () => true,
    isKept: (name: string) => boolean = () => false,
  ): readonly string[] {
    this.#sort()
    const wave = this.#role
    const all = { ...this.#tally.ahead }
    const going = this.#aheadWithout(isKept)
    const room = (taken: Record<Role, number>, role: Role) =>
      ahead - (role === wave ? taken[role] : taken.ControlPlane + taken.Worker)
    const names: string[] = []
    // The control plane goes strictly in turn: the next that could must not wait for room that others have taken.
    const due = wave === 'ControlPlane' ? this.#firstCandidate(isKept) : undefined
    let isDue = due !== undefined
    for (let turn = this.#firstWaiting(); turn < this.#order.end && (isDue || room(going, wave) > 0); turn++) {
      const member = this.#members.get(this.#order.names[turn] ?? '')
      if (member?.standing !== 'waiting' || !member.ready) continue
      const { name, role } = member
      const kept = isKept(name)
      const isFirst = name === due
      if (isFirst) isDue = false
      if (member.staging !== 'no' || !may(name)) continue
      if (!isFirst && room(kept ? all : going, role) <= 0) continue
      names.push(name)
      all[role]++
      if (!kept) going[role]++
    }
    return names
  }

  #firstCandidate(isKept: (name: string) => boolean): string | undefined {
    for (const { node } of this.candidates()) if (!isKept(node)) return node
    return undefined
  }

  /** How many stage or have, by role, without those. */
  #aheadWithout(isKept: (name: string) => boolean): Record<Role, number> {
    const ahead = { ...this.#tally.ahead }
    for (const name of Object.values(this.#tally.staging).flatMap((names) => [...names])) {
      const member = this.#members.get(name)
      if (member?.ready && isKept(name)) ahead[member.role]--
    }
    return ahead
  }

  /** Waiting nodes that cannot go because they are not Ready, a few of them. */
  notReady(limit: number): readonly string[] {
    return first(this.#tally.unready, limit)
  }

  /** Names of a standing, a few of them, in no special order. */
  some(standing: Standing, limit: number): readonly string[] {
    return first(this.#tally.byStanding[standing], limit)
  }

  /** The turn of the first that waits; it is not looked for twice among those that have gone. */
  #firstWaiting(): number {
    const { names, end } = this.#order
    while (this.#order.cursor < end && this.standing(names[this.#order.cursor] ?? '') !== 'waiting')
      this.#order.cursor++
    return this.#order.cursor
  }

  get #role(): Role {
    return this.inControlPlaneWave ? 'ControlPlane' : 'Worker'
  }

  /** Those of the names that may go in the present wave. */
  #inWave(names: Iterable<string>): Member[] {
    const members = [...names].flatMap((name) => this.#members.get(name) ?? [])
    return members.filter((member) => this.#order.isInWave(member, this.#role))
  }

  #freeInTurn(): readonly Member[] {
    if (this.#tally.free.size === 0) return []
    return this.#inWave(this.#tally.free).sort((a, b) => this.#order.turn(a) - this.#order.turn(b))
  }

  #sort(): void {
    this.#order.sort(this.#members)
  }
}

function requestOf({ name, uid, role }: Member): Request {
  return { node: name, nodeUID: uid, role }
}

function first(names: Iterable<string>, limit: number): readonly string[] {
  const some: string[] = []
  for (const name of names) {
    if (some.length >= limit) break
    some.push(name)
  }
  return some
}

function same(a: Member, b: Member): boolean {
  return (
    a.uid === b.uid &&
    a.role === b.role &&
    a.weight === b.weight &&
    a.zone === b.zone &&
    a.ready === b.ready &&
    a.free === b.free &&
    a.standing === b.standing &&
    a.taken === b.taken &&
    a.staging === b.staging
  )
}
