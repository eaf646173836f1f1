// The nodes of one running operation and where each stands, kept up to date change by change. Candidates come out in the
// order of the waves: control plane first; then workers, those already away at the front, the operator's own node last.

import type { Node } from '../../api/kube.ts'
import type { NodeState } from '../../api/node-state.ts'
import type { Request } from '../../core/ledger/grants.ts'
import { isReady, isUnavailable, type Role, roleOf } from '../../core/node/node-facts.ts'
import type { StagingState } from '../../core/node/stage-node.ts'
import type { Counts } from '../../core/update/progress.ts'

export type Standing = 'waiting' | 'working' | 'attention' | 'failed' | 'done' | 'skipped'

interface Member {
  readonly name: string
  readonly uid: string
  readonly role: Role
  readonly ready: boolean
  /** Ready but cordoned by somebody else: working on it takes nothing more away. */
  readonly free: boolean
  readonly standing: Standing
  readonly staging: StagingState
}

export interface Judge {
  /** Undefined: not a node of this operation. */
  standing(node: Node, state: NodeState | undefined): Standing | undefined
  staging(state: NodeState | undefined): StagingState
  /** Whether the operator itself runs there. */
  isOwnNode(name: string): boolean
}

const noNames: ReadonlySet<string> = new Set()

export class MemberTable {
  readonly #judge: Judge
  readonly #members = new Map<string, Member>()
  /** Names by wave and name; entries that left or do not wait any more are passed over. */
  #order: string[] = []
  #position = new Map<string, number>()
  #sorted = false
  #cursor = 0
  readonly #counts: Record<Standing, number> = { waiting: 0, working: 0, attention: 0, failed: 0, done: 0, skipped: 0 }
  readonly #workers = { total: 0, open: 0, counted: 0, begun: 0 }
  readonly #controlPlane = { total: 0, open: 0, working: 0, broken: 0, begun: 0 }
  readonly #free = new Set<string>()
  /** Waiting, but not Ready. */
  readonly #unready = new Set<string>()
  readonly #byStanding: Readonly<Record<Standing, Set<string>>> = {
    waiting: new Set(),
    working: new Set(),
    attention: new Set(),
    failed: new Set(),
    done: new Set(),
    skipped: new Set(),
  }
  readonly #idleNotReady = new Set<string>()
  /** Waiting for their turn, by how far they are with staging. */
  readonly #staging: Readonly<Record<Exclude<StagingState, 'no'>, Set<string>>> = { asked: new Set(), ready: new Set() }

  constructor(judge: Judge) {
    this.#judge = judge
  }

  get counts(): Counts {
    return this.#counts
  }

  /** Selected workers, for percentages. */
  get workers(): number {
    return this.#workers.total
  }

  /** A control-plane node failed or needs a person. */
  get controlPlaneBroken(): boolean {
    return this.#controlPlane.broken > 0
  }

  /** What counts against the operation's own limit in the present wave. */
  get counted(): number {
    return this.#controlPlane.open > 0 ? this.#controlPlane.working : this.#workers.counted
  }

  /** Workers among them that count only because they are not Ready. */
  get countedNotReady(): ReadonlySet<string> {
    return this.#controlPlane.open > 0 ? noNames : this.#idleNotReady
  }

  /** The control plane is wave 0, the workers are wave 1. */
  get waves(): {
    readonly first: number
    readonly current: number
    readonly isBegun: boolean
    readonly isDone: boolean
  } {
    const { waiting, working, attention, failed } = this.#counts
    const first = this.#controlPlane.total > 0 ? 0 : 1
    const current = this.inControlPlaneWave || this.#workers.total === 0 ? 0 : 1
    const { begun } = current === 0 ? this.#controlPlane : this.#workers
    return { first, current, isBegun: begun > 0, isDone: waiting + working + attention + failed === 0 }
  }

  get inControlPlaneWave(): boolean {
    return this.#controlPlane.open > 0
  }

  standing(name: string): Standing | undefined {
    return this.#members.get(name)?.standing
  }

  /** Looks at one node again; true when something changed. */
  refresh(name: string, node: Node | undefined, state: NodeState | undefined): boolean {
    const before = this.#members.get(name)
    const standing = node && this.#judge.standing(node, state)
    if (!node || standing === undefined) {
      if (!before) return false
      this.#tally(before, -1)
      this.#members.delete(name)
      return true
    }
    const ready = isReady(node)
    const after: Member = {
      name,
      uid: node.metadata.uid,
      role: roleOf(node),
      ready,
      free: ready && isUnavailable(node),
      standing,
      staging: this.#judge.staging(state),
    }
    if (before && same(before, after)) return false
    if (before) this.#tally(before, -1)
    if (before?.role !== after.role) this.#sorted = false
    this.#members.set(name, after)
    this.#tally(after, 1)
    const position = this.#position.get(name)
    if (standing === 'waiting' && position !== undefined && position < this.#cursor) this.#cursor = position
    return true
  }

  /** The nodes that may go next, in turn; nodes that are not Ready are waited for, not worked on. */
  *candidates(): Generator<Request> {
    this.#sort()
    const wave: Role = this.inControlPlaneWave ? 'ControlPlane' : 'Worker'
    for (const name of this.#free) {
      const member = this.#members.get(name)
      if (member?.standing === 'waiting' && member.role === wave) yield requestOf(member)
    }
    const last: Member[] = []
    let leading = true
    for (let index = this.#cursor; index < this.#order.length; index++) {
      const member = this.#members.get(this.#order[index] ?? '')
      if (member?.standing !== 'waiting') {
        if (leading) this.#cursor = index + 1
        continue
      }
      leading = false
      if (member.role !== wave) break
      if (!member.ready || member.free) continue
      if (this.#judge.isOwnNode(member.name)) last.push(member)
      else yield requestOf(member)
    }
    for (const member of last) yield requestOf(member)
  }

  /** As `candidates`, but only those that have staged. There are few of them at a time. */
  *staged(): Generator<Request> {
    this.#sort()
    const wave: Role = this.inControlPlaneWave ? 'ControlPlane' : 'Worker'
    const members = [...this.#staging.ready].flatMap((name) => this.#members.get(name) ?? [])
    const turn = ({ name, free }: Member) =>
      (free ? 0 : this.#judge.isOwnNode(name) ? 2 : 1) * this.#order.length + (this.#position.get(name) ?? 0)
    for (const member of members.sort((a, b) => turn(a) - turn(b))) {
      if (member.role === wave && member.ready) yield requestOf(member)
    }
  }

  isStaging(name: string): boolean {
    return this.#staging.asked.has(name) || this.#staging.ready.has(name)
  }

  stagingNames(limit: number): readonly string[] {
    return first(this.#staging.asked, limit)
  }

  /**
   * The next nodes to stage, so that `ahead` of them do or have. Nodes of a later wave may stage too, but never keep those of
   * the present one from it; a node that is not Ready keeps nobody.
   */
  nextToStage(ahead: number): readonly string[] {
    this.#sort()
    const wave: Role = this.inControlPlaneWave ? 'ControlPlane' : 'Worker'
    const staging = [...this.#staging.asked, ...this.#staging.ready].flatMap((name) => this.#members.get(name) ?? [])
    const ready = staging.filter((member) => member.ready)
    let roomInWave = ahead - ready.filter(({ role }) => role === wave).length
    let room = ahead - ready.length
    const names: string[] = []
    for (let index = this.#cursor; index < this.#order.length && Math.max(roomInWave, room) > 0; index++) {
      const member = this.#members.get(this.#order[index] ?? '')
      if (member?.standing !== 'waiting' || !member.ready || member.staging !== 'no') continue
      if ((member.role === wave ? roomInWave : room) <= 0) continue
      names.push(member.name)
      if (member.role === wave) roomInWave--
      room--
    }
    return names
  }

  /** Waiting nodes that cannot go because they are not Ready, a few of them. */
  notReady(limit: number): readonly string[] {
    return first(this.#unready, limit)
  }

  /** Names of a standing, a few of them, in no special order. */
  some(standing: Standing, limit: number): readonly string[] {
    return first(this.#byStanding[standing], limit)
  }

  #tally(member: Member, by: 1 | -1): void {
    const { standing, role, ready } = member
    this.#counts[standing] += by
    const open = standing !== 'done' && standing !== 'skipped'
    const working = standing === 'working' || standing === 'attention'
    const begun = standing !== 'waiting' && standing !== 'skipped'
    if (role === 'ControlPlane') {
      this.#controlPlane.total += by
      if (begun) this.#controlPlane.begun += by
      if (open) this.#controlPlane.open += by
      if (working) this.#controlPlane.working += by
      if (standing === 'failed' || standing === 'attention') this.#controlPlane.broken += by
    } else {
      this.#workers.total += by
      if (begun) this.#workers.begun += by
      if (open) this.#workers.open += by
      if (working || !ready) this.#workers.counted += by
      if (!working && !ready) this.#list(this.#idleNotReady, member, by)
    }
    this.#list(this.#byStanding[standing], member, by)
    if (member.free && standing === 'waiting') this.#list(this.#free, member, by)
    if (!ready && standing === 'waiting') this.#list(this.#unready, member, by)
    if (standing === 'waiting' && member.staging !== 'no') this.#list(this.#staging[member.staging], member, by)
  }

  #list(names: Set<string>, { name }: Member, by: 1 | -1): void {
    if (by > 0) names.add(name)
    else names.delete(name)
  }

  #sort(): void {
    if (this.#sorted) return
    const collator = new Intl.Collator('en', { numeric: true })
    this.#order = [...this.#members.values()].sort((a, b) => byTurn(a, b, collator)).map(({ name }) => name)
    this.#position = new Map(this.#order.map((name, index) => [name, index]))
    this.#cursor = 0
    this.#sorted = true
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

function byTurn(a: Member, b: Member, collator: Intl.Collator): number {
  if (a.role !== b.role) return a.role === 'ControlPlane' ? -1 : 1
  return collator.compare(a.name, b.name)
}

function same(a: Member, b: Member): boolean {
  return (
    a.uid === b.uid &&
    a.role === b.role &&
    a.ready === b.ready &&
    a.free === b.free &&
    a.standing === b.standing &&
    a.staging === b.staging
  )
}
