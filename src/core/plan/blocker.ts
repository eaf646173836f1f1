// What kept a drain or an update from going on in a rehearsal, named by its cause and not by the pod that met it: in another run
// another pod of the same workload meets the same budget.

import type { Node, PodDisruptionBudget } from '../../api/kube.ts'
import type { ReasonCode } from '../../api/reason.ts'

export interface Blocker {
  /** The same in every run in which the same thing is in the way. */
  readonly key: string
  readonly code: ReasonCode | string
  readonly message: string
  readonly node?: string
  /** Nothing but a person can change it: it does not hang on who goes where, or when. */
  readonly lasting: boolean
  /** It is the same thing on another node, and yet chance which node it meets: certain only where that is always the same. */
  readonly placeMatters?: boolean
  /** When it was met, on the clock of its run; absent: it could be at any time. */
  readonly atMs?: number
}

/** Waits that pass by themselves as soon as pods elsewhere are healthy. */
const passing = new Set<string>(['PodDisruptionBudget', 'PodEvictionRefused', 'PodTerminating', 'PodEvicting'])
/** Whose turn it is changes; what everybody waits for is the budget. */
const sameCause: Readonly<Record<string, string>> = { PodWaitsItsTurn: 'PodDisruptionBudget' }

export interface PodBlockView {
  readonly node: string
  readonly pod: string
  readonly code: string
  readonly message: string
  readonly workload: string | undefined
  /** The budgets that select it. */
  readonly budgets: readonly PodDisruptionBudget[]
  /** Whether any node but this one could ever take it. */
  readonly fitsElsewhere: boolean
}

export function podBlocker(view: PodBlockView): Blocker {
  const { node, pod, message, budgets, workload } = view
  const code = sameCause[view.code] ?? view.code
  const [budget] = budgets
  const about =
    code === 'PodDisruptionBudget' && budget ? `PodDisruptionBudget ${nameOf(budget)}` : (workload ?? `Pod ${pod}`)
  const lasting = passing.has(code)
    ? budgets.some((one) => allowsNone(one)) || !view.fitsElsewhere
    : !endsByItself(view)
  return { key: `${code} ${about}`, code, message, node, lasting }
}

/** A rule lets it run to its end, and it has one. */
function endsByItself({ code, workload }: PodBlockView): boolean {
  return code === 'PodCompleting' && workload?.startsWith('Job ') === true
}

/** Even with every pod healthy it lets nobody go. */
export function allowsNone({ status }: PodDisruptionBudget): boolean {
  return status !== undefined && status.expectedPods > 0 && status.desiredHealthy >= status.expectedPods
}

export function nameOf({ metadata }: { readonly metadata: Node['metadata'] }): string {
  return metadata.namespace === undefined ? metadata.name : `${metadata.namespace}/${metadata.name}`
}
