// Who may disrupt a node next. Rules 1 and 2 live here: a disruption starts only if every budget still holds, counting
// every node that is away whatever the cause, and one control-plane node at a time. The caller writes the answer with a
// compare-and-swap before any node is touched.

import type { Reason } from '../../api/reason.ts'
import type { ApiAway } from '../control-plane/may-leave.ts'
import type { Role } from '../node/node-facts.ts'
import { type Absences, type Budget, inTheWay, Tally } from './tally.ts'
import { byTurn, laneOf } from './turns.ts'

export interface Request {
  readonly node: string
  readonly nodeUID: string
  readonly role: Role
  /** Why this very node may not go now, by the operation's own judgement (a gate, an agent that is away). */
  readonly obstacle?: Reason | undefined
  /** Asked last, when nothing else stands in the way: what it says must be true now. */
  readonly gate?: (() => Reason | undefined) | undefined
  /** Asked at the very end: what is missing still is made only for a node that could go otherwise. */
  readonly lastly?: (() => Reason | undefined) | undefined
}

/** One operation's wishes, in the order it wants its nodes. */
export interface Claim {
  readonly holder: string
  readonly requests: Iterable<Request>
  /** Why nothing of this operation may start now, whatever the budgets say. */
  readonly held?: Reason | undefined
  /** Why nothing of it may start at this time: no window is open for it. Asked when nothing else holds it. */
  readonly closed?: (() => Reason | undefined) | undefined
  /** What comes before its nodes and is not through. `shut`: why nothing of that may begin either. */
  readonly starting?: ((shut: Reason | undefined) => Reason | undefined) | undefined
  /** Whether its plan said that the API will be away with a control-plane node. */
  readonly apiAway?: ApiAway | undefined
  /** Budgets of this operation alone, besides those of the cluster. */
  readonly budgets?: readonly Budget[] | undefined
  /** The operation's own limit on its nodes under work, and how many count against it already. */
  readonly limit: {
    readonly maxUnavailable: number
    readonly counted: number
    /** Those of them that nobody works on: they count because they are not Ready. */
    readonly notReady?: ReadonlySet<string>
  }
}

export interface DatedClaim extends Claim {
  /** When it began to ask, in milliseconds. */
  readonly since: number
}

export interface LedgerView extends Absences {
  readonly paused: boolean
  /** Why nothing at all may start: a lock that somebody else holds. */
  readonly locked?: Reason | undefined
  /** The nodes that ordinary pods can go to; absent = nobody knows, and none of them is spared. */
  readonly takingPods?: ReadonlySet<string> | undefined
  /** The control-plane nodes that are away. */
  readonly controlPlaneAway: ReadonlySet<string>
  /** Why a control-plane node may not leave now: a member of etcd or an API server that would be missed. */
  readonly controlPlaneObstacle?: ((node: string, apiAway: ApiAway) => Reason | undefined) | undefined
  /** What a person who holds the node for themselves says. */
  readonly onHold?: ((node: string) => string | undefined) | undefined
  /** When each lane was last given a slot, in milliseconds. */
  readonly served?: ReadonlyMap<string, number> | undefined
}

export const policyPaused: Reason = {
  code: 'PolicyPaused',
  message: 'MaintenancePolicy/default is paused: nothing new starts',
}

export type Verdict =
  | { readonly verdict: 'granted'; readonly holder: string; readonly request: Request }
  | { readonly verdict: 'waiting'; readonly holder: string; readonly request: Request; readonly reason: Reason }

type Obstacle = Reason & {
  /** It is about this node alone: the next may go. */
  readonly passedOver?: true
}

/**
 * Goes round among those who ask, one slot each, until nobody gets any more. Each claim is followed until its first node
 * that must wait: later ones would wait for the same thing, and a pass costs what is granted, not what is asked for. Passed
 * over is only what says nothing of the next node: another operation, a person or the budget of its own set holds it.
 */
export function decideGrants(view: LedgerView, claims: Iterable<DatedClaim>): readonly Verdict[] {
  const pass = new Pass(view)
  const verdicts: Verdict[] = []
  for (let round = lanes(view, claims); round.length > 0; ) {
    const next: Lane[] = []
    for (const lane of round) {
      const found = lane.next(pass)
      verdicts.push(...found)
      if (found.some(({ verdict }) => verdict === 'granted')) next.push(lane)
    }
    round = next
  }
  return verdicts
}

/**
 * What keeps a node from its operation as things stand and says nothing of the next: it is passed over when it asks. For those
 * that look further ahead than one pass asks.
 */
export function passedOver(view: LedgerView): (node: string, holder: string) => Reason | undefined {
  const pass = new Pass(view)
  return (node, holder) => pass.passedOver(node, holder)
}

function lanes(view: LedgerView, claims: Iterable<DatedClaim>): readonly Lane[] {
  const found = new Map<string, Lane>()
  for (const claim of claims) {
    const asking = new Asking(claim)
    const name = laneOf(claim.holder)
    const lane = found.get(name)
    if (lane) lane.add(asking)
    else found.set(name, new Lane(name, asking))
  }
  return [...found.values()].sort(byTurn(view.served ?? new Map()))
}

/** The claims that take one turn together, the oldest first. */
class Lane {
  readonly lane: string
  readonly since: number
  readonly controlPlane: boolean
  readonly #asking: Asking[]

  constructor(lane: string, first: Asking) {
    this.lane = lane
    this.since = first.claim.since
    this.controlPlane = first.peek()?.role === 'ControlPlane'
    this.#asking = [first]
  }

  add(asking: Asking): void {
    this.#asking.push(asking)
  }

  /** One node at most, and why those who got none must wait. */
  next(pass: Pass): readonly Verdict[] {
    const verdicts: Verdict[] = []
    for (let asking = this.#asking[0]; asking; asking = this.#asking[0]) {
      const verdict = asking.next(pass)
      if (verdict) verdicts.push(verdict)
      if (verdict?.verdict === 'granted') return verdicts
      this.#asking.shift()
    }
    return verdicts
  }
}

/** One claim, as far as it has been followed. */
class Asking {
  readonly claim: DatedClaim
  readonly #requests: Iterator<Request>
  #peeked: Request | undefined
  #counted: number
  /** The first node that was passed over. */
  #waiting: Verdict | undefined

  constructor(claim: DatedClaim) {
    this.claim = claim
    this.#requests = claim.requests[Symbol.iterator]()
    this.#counted = claim.limit.counted
  }

  peek(): Request | undefined {
    this.#peeked ??= this.#pull()
    return this.#peeked
  }

  /** The next node it gets; what it waits for when it gets none; undefined when it asks for nothing more. */
  next(pass: Pass): Verdict | undefined {
    const { holder, limit } = this.claim
    const held = this.#heldUp(pass)
    for (let request = this.#take(); request; request = this.#take()) {
      const isFull = this.#counted >= limit.maxUnavailable
      const reason: Obstacle | undefined =
        held ??
        request.obstacle ??
        pass.obstacle(request, this.claim) ??
        (isFull ? limitSpent(limit) : undefined) ??
        request.gate?.() ??
        // Late: to tell this the control plane has to be asked.
        pass.missed(request, this.claim) ??
        request.lastly?.()
      if (!reason) {
        this.#counted++
        pass.grant(request, holder)
        return { verdict: 'granted', holder, request }
      }
      const { passedOver, ...why } = reason
      this.#waiting ??= { verdict: 'waiting', holder, request, reason: why }
      if (!passedOver) return { verdict: 'waiting', holder, request, reason: why }
      if (isFull) break
    }
    return this.#waiting
  }

  /** The emergency stop comes first: it is what a person did last. */
  #heldUp(pass: Pass): Reason | undefined {
    const { held, closed, starting } = this.claim
    if (held) return held
    const shut = pass.stopped ?? closed?.()
    return starting?.(shut) ?? shut
  }

  #take(): Request | undefined {
    const request = this.peek()
    this.#peeked = undefined
    return request
  }

  #pull(): Request | undefined {
    const { value, done } = this.#requests.next()
    return done ? undefined : value
  }
}

/** What holds for every claim, and what this pass has booked so far. */
class Pass {
  readonly #view: LedgerView
  readonly #tally: Tally
  readonly #controlPlaneAway: Set<string>
  readonly #taken = new Map<string, string>()

  constructor(view: LedgerView) {
    this.#view = view
    this.#tally = new Tally(view)
    this.#controlPlaneAway = new Set(view.controlPlaneAway)
  }

  grant({ node, role }: Request, holder: string): void {
    this.#tally.take(node, `held by ${holder}`)
    this.#taken.set(node, holder)
    if (role === 'ControlPlane') this.#controlPlaneAway.add(node)
  }

  get stopped(): Reason | undefined {
    return this.#view.paused ? policyPaused : undefined
  }

  obstacle({ node, role }: Request, { holder, budgets = [] }: Claim): Obstacle | undefined {
    const { locked, budgetsOf } = this.#view
    if (locked) return locked
    const kept = this.#keptByOthers(node, holder)
    if (kept) return { ...kept, passedOver: true }
    const busy = role === 'ControlPlane' ? this.#controlPlaneBusy(node) : undefined
    if (busy) return busy
    for (const budget of [...budgetsOf(node), ...budgets]) {
      const broken = this.#tally.broken(node, budget)
      if (broken) return budget.away ? { ...broken, passedOver: true } : broken
    }
    return this.#lastForPods(node)
  }

  /** Why this very node may not go, where that says nothing of the next. */
  passedOver(node: string, holder: string): Reason | undefined {
    const kept = this.#keptByOthers(node, holder)
    if (kept) return kept
    for (const budget of this.#view.budgetsOf(node)) {
      const broken = budget.away && this.#tally.broken(node, budget)
      if (broken) return broken
    }
    return undefined
  }

  #keptByOthers(node: string, holder: string): Reason | undefined {
    const { held, foreign, onHold } = this.#view
    const other = this.#taken.get(node) ?? held.get(node)
    if (other !== undefined && other !== holder) {
      return { code: 'NodeHeldElsewhere', message: `${node} is held by ${other}` }
    }
    const stranger = foreign?.get(node)
    if (stranger !== undefined) return { code: 'ForeignLockHeld', message: `${node} is ${stranger}` }
    const hold = onHold?.(node)
    if (hold === undefined) return undefined
    return { code: 'NodeOnHold', message: `${node} is on hold (${hold}); slipway release ${node}` }
  }

  /**
   * The pods of the others would have nowhere to go, and two drains would wait for each other. Only a node that comes back is waited
   * for: where there is but this one, or the others are down, its pods have to wait anyhow.
   */
  #lastForPods(node: string): Reason | undefined {
    const { takingPods } = this.#view
    if (!takingPods?.has(node) || this.#tally.isAway(node) || this.#tally.away + 1 < takingPods.size) return undefined
    const others = [...takingPods].filter((name) => name !== node)
    if (others.some((name) => !this.#tally.isAway(name))) return undefined
    const worked = others.filter((name) => this.#taken.has(name) || this.#view.held.has(name))
    if (worked.length === 0) return undefined
    const said = `${node} is the last node that takes pods until ${listed(worked)} ${worked.length === 1 ? 'is' : 'are'} back`
    return this.#tally.areBroken(worked) ? inTheWay(said, worked) : { code: 'BudgetSpent', message: said }
  }

  /** Why the control plane cannot spare the node. */
  missed({ node, role }: Request, { apiAway = 'Unstated' }: Claim): Reason | undefined {
    return role === 'ControlPlane' ? this.#view.controlPlaneObstacle?.(node, apiAway) : undefined
  }

  #controlPlaneBusy(node: string): Reason | undefined {
    const others = [...this.#controlPlaneAway].filter((name) => name !== node)
    if (others.length === 0) return undefined
    const said = `${listed(others)} of the control plane ${others.length === 1 ? 'is' : 'are'} away; only one node of it may be at a time`
    return this.#tally.areBroken(others) ? inTheWay(said, others) : { code: 'ControlPlaneBusy', message: said }
  }
}

function limitSpent({ maxUnavailable, notReady }: Claim['limit']): Reason {
  const atOnce = `the update works on ${maxUnavailable} node(s) at once (strategy.maxUnavailable)`
  const names = [...(notReady ?? [])]
  const also = `; ${listed(names)} ${names.length === 1 ? 'is' : 'are'} not Ready and counted`
  return { code: 'BudgetSpent', message: names.length === 0 ? atOnce : `${atOnce}${also}` }
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, 3).join(', ')
  return names.length > 3 ? `${shown} and ${names.length - 3} more` : shown
}
