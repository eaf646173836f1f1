// Who may disrupt a node next. Rules 1 and 2 live here: a disruption starts only if every budget still holds, counting
// every node that is away whatever the cause, and one control-plane node at a time. The caller writes the answer with a
// compare-and-swap before any node is touched.

import type { Reason } from '../../api/reason.ts'
import type { Role } from '../node/node-facts.ts'

export interface Budget {
  readonly name: string
  readonly maxUnavailable: number
}

export interface Request {
  readonly node: string
  readonly nodeUID: string
  readonly role: Role
  /** Why this very node may not go now, by the operation's own judgement (a gate, an agent that is away). */
  readonly obstacle?: Reason | undefined
  /** Asked last, when nothing else stands in the way: what it says must be true now. */
  readonly gate?: (() => Reason | undefined) | undefined
}

/** One operation's wishes, in the order it wants its nodes. */
export interface Claim {
  readonly holder: string
  readonly requests: Iterable<Request>
  /** Why nothing of this operation may start now, whatever the budgets say. */
  readonly held?: Reason | undefined
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

export interface LedgerView {
  readonly paused: boolean
  readonly budgets: readonly Budget[]
  /** Every node that is unavailable, whatever the cause, or holds a grant. */
  readonly away: ReadonlySet<string>
  /** The control-plane nodes among them. */
  readonly controlPlaneAway: ReadonlySet<string>
  /** Why a control-plane node may not leave now: a member of etcd or an API server that would be missed. */
  readonly controlPlaneObstacle?: ((node: string) => Reason | undefined) | undefined
  /** Who holds a node already. */
  readonly holderOf: (node: string) => string | undefined
}

export type Verdict =
  | { readonly verdict: 'granted'; readonly holder: string; readonly request: Request }
  | { readonly verdict: 'waiting'; readonly holder: string; readonly request: Request; readonly reason: Reason }

/**
 * Goes through the claims in their order. Each claim is followed until its first node that must wait: later ones would wait
 * for the same thing, and a pass costs what is granted, not what is asked for. Only a node that another operation holds is
 * passed over: that says nothing of the next.
 */
export function decideGrants(view: LedgerView, claims: Iterable<Claim>): readonly Verdict[] {
  const away = new Set(view.away)
  const controlPlaneAway = new Set(view.controlPlaneAway)
  const taken = new Map<string, string>()
  const holderOf = (node: string) => taken.get(node) ?? view.holderOf(node)
  const verdicts: Verdict[] = []
  for (const { holder, requests, held, limit, budgets: own = [] } of claims) {
    const budgets = [...view.budgets, ...own]
    let counted = limit.counted
    let waiting: Verdict | undefined
    for (const request of requests) {
      const reason =
        held ??
        request.obstacle ??
        obstacle(request, holder, { ...view, budgets, away, controlPlaneAway, holderOf }) ??
        (counted >= limit.maxUnavailable ? limitSpent(limit) : undefined) ??
        request.gate?.()
      if (reason?.code === 'NodeHeldElsewhere') {
        waiting ??= { verdict: 'waiting', holder, request, reason }
        continue
      }
      if (reason) {
        waiting = { verdict: 'waiting', holder, request, reason }
        break
      }
      counted++
      away.add(request.node)
      taken.set(request.node, holder)
      if (request.role === 'ControlPlane') controlPlaneAway.add(request.node)
      verdicts.push({ verdict: 'granted', holder, request })
    }
    if (waiting) verdicts.push(waiting)
  }
  return verdicts
}

function obstacle(request: Request, holder: string, view: LedgerView): Reason | undefined {
  if (view.paused) {
    return { code: 'PolicyPaused', message: 'MaintenancePolicy/default is paused: nothing new starts' }
  }
  const other = view.holderOf(request.node)
  if (other !== undefined && other !== holder) {
    return { code: 'NodeHeldElsewhere', message: `${request.node} is held by ${other}` }
  }
  if (request.role === 'ControlPlane') {
    const others = [...view.controlPlaneAway].filter((name) => name !== request.node)
    if (others.length > 0) {
      return {
        code: 'ControlPlaneBusy',
        message: `${listed(others)} of the control plane ${others.length === 1 ? 'is' : 'are'} away; only one node of it may be at a time`,
      }
    }
    const missed = view.controlPlaneObstacle?.(request.node)
    if (missed) return missed
  }
  return brokenBudget(request.node, view)
}

/** The first budget that taking this node away would break; a node already away costs nothing more. */
function brokenBudget(node: string, { away, budgets }: LedgerView): Reason | undefined {
  if (away.has(node)) return undefined
  const broken = budgets.find(({ maxUnavailable }) => away.size + 1 > maxUnavailable)
  if (!broken) return undefined
  return {
    code: 'BudgetSpent',
    message: `budget "${broken.name}" allows ${broken.maxUnavailable} node(s) away; ${listed([...away])} already ${away.size === 1 ? 'is' : 'are'}`,
  }
}

function limitSpent({ maxUnavailable, notReady }: Claim['limit']): Reason {
  const atOnce = `the update works on ${maxUnavailable} node(s) at once (strategy.maxUnavailable)`
  const names = [...(notReady ?? [])]
  const also = `; ${listed(names)} ${names.length === 1 ? 'is' : 'are'} not Ready and counted`
  return { code: 'BudgetSpent', message: names.length === 0 ? atOnce : `${atOnce}${also}` }
}

function listed(names: readonly string[]): string {
  if (names.length === 0) return 'none'
  const shown = names.slice(0, 3).join(', ')
  return names.length > 3 ? `${shown} and ${names.length - 3} more` : shown
}
