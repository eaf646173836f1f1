// How many nodes of an operation stand where, and which, counted change by change: nothing here is ever counted anew.

import type { Role } from '../../core/node/node-facts.ts'
import type { StagingState } from '../../core/node/stage-node.ts'
import type { Counts } from '../../core/update/progress.ts'
import type { Standing } from '../../core/update/standing.ts'
import type { Placed } from './wave-order.ts'

export interface Member extends Placed {
  readonly uid: string
  /** Ready but cordoned by somebody else: working on it takes nothing more away. */
  readonly free: boolean
  /** The operation has taken it: its slot is held, or it is under our cordon. */
  readonly taken: boolean
  readonly staging: StagingState
}

export interface Reach {
  readonly hasControlPlane: boolean
  readonly hasBegunWorkers: boolean
}

type Names = ReadonlySet<string>

const noNames: Names = new Set()

export class MemberTally {
  readonly #counts: Record<Standing, number> = { waiting: 0, working: 0, attention: 0, failed: 0, done: 0, skipped: 0 }
  readonly #workers = { total: 0, counted: 0, begun: 0 }
  readonly #controlPlane = { total: 0, open: 0, working: 0, broken: 0 }
  #stuck = 0
  readonly #free = new Set<string>()
  readonly #unready = new Set<string>()
  readonly #idleNotReady = new Set<string>()
  readonly #byStanding: Readonly<Record<Standing, Set<string>>> = {
    waiting: new Set(),
    working: new Set(),
    attention: new Set(),
    failed: new Set(),
    done: new Set(),
    skipped: new Set(),
  }
  readonly #staging: Readonly<Record<Exclude<StagingState, 'no'>, Set<string>>> = {
    asked: new Set(),
    unheard: new Set(),
    ready: new Set(),
  }
  readonly #ahead: Record<Role, number> = { ControlPlane: 0, Worker: 0 }

  get counts(): Counts {
    return this.#counts
  }

  get workers(): number {
    return this.#workers.total
  }

  get isControlPlaneOpen(): boolean {
    return this.#controlPlane.open > 0
  }

  get isControlPlaneBroken(): boolean {
    return this.#controlPlane.broken > 0
  }

  /** Taken, and failed or in need of a person. */
  get stuck(): number {
    return this.#stuck
  }

  get counted(): number {
    return this.isControlPlaneOpen ? this.#controlPlane.working : this.#workers.counted
  }

  get countedNotReady(): Names {
    return this.isControlPlaneOpen ? noNames : this.#idleNotReady
  }

  get reach(): Reach {
    return { hasControlPlane: this.#controlPlane.total > 0, hasBegunWorkers: this.#workers.begun > 0 }
  }

  /** Waiting, and away already. */
  get free(): Names {
    return this.#free
  }

  /** Waiting, but not Ready. */
  get unready(): Names {
    return this.#unready
  }

  get byStanding(): Readonly<Record<Standing, Names>> {
    return this.#byStanding
  }

  /** Waiting for their turn, by how far they are with staging. */
  get staging(): Readonly<Record<Exclude<StagingState, 'no'>, Names>> {
    return this.#staging
  }

  /** How many of them are Ready, by role. */
  get ahead(): Readonly<Record<Role, number>> {
    return this.#ahead
  }

  /** `by` -1: it stands there no longer. */
  add(member: Member, by: 1 | -1): void {
    const { standing, role, ready } = member
    this.#counts[standing] += by
    const open = standing !== 'done' && standing !== 'skipped'
    // One that calls for a person before anything was begun on it is not away: it keeps no other from going.
    const working = standing === 'working' || (standing === 'attention' && member.taken)
    const broken = standing === 'failed' || standing === 'attention'
    if (broken && member.taken) this.#stuck += by
    // One whose staging failed was not: gates and hooks before the first worker are still to come.
    const begun = standing === 'done' || standing === 'working' || (broken && member.taken)
    if (role === 'ControlPlane') {
      this.#controlPlane.total += by
      if (open) this.#controlPlane.open += by
      if (working) this.#controlPlane.working += by
      if (broken) this.#controlPlane.broken += by
    } else {
      this.#workers.total += by
      if (begun) this.#workers.begun += by
      if (working || !ready) this.#workers.counted += by
      if (!working && !ready) list(this.#idleNotReady, member, by)
    }
    list(this.#byStanding[standing], member, by)
    if (member.free && standing === 'waiting') list(this.#free, member, by)
    if (!ready && standing === 'waiting') list(this.#unready, member, by)
    if (standing !== 'waiting' || member.staging === 'no') return
    list(this.#staging[member.staging], member, by)
    if (ready) this.#ahead[role] += by
  }
}

function list(names: Set<string>, { name }: Member, by: 1 | -1): void {
  if (by > 0) names.add(name)
  else names.delete(name)
}
