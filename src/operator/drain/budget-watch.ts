// PodDisruptionBudgets, watched only while something drains. Also remembers what we asked for and the budget's status does
// not show yet, and who waits for which budget, so that several drains do not ask for the same allowance.

import { type Pod, type PodDisruptionBudget, podDisruptionBudgets } from '../../api/kube.ts'
import { type Allowance, allowanceFor, type BudgetClaim } from '../../core/drain/drain-order.ts'
import { requiredTerm, selects, termsOf } from '../../core/label-selector.ts'
import type { OperatorPorts } from '../ports.ts'
import { SharedWatch } from './shared-watch.ts'

const freedMs = 1_000

export class BudgetWatch {
  readonly #ports: OperatorPorts
  readonly #wake: (node: string) => void
  readonly #watch: SharedWatch<PodDisruptionBudget>
  readonly #reserved = new Map<string, { readonly resourceVersion: string; readonly count: number }>()
  /** Nodes that wait for a budget, by its uid. */
  readonly #waiting = new Map<string, Set<string>>()
  /** What each draining node still needs, by the budget's uid and the node. */
  readonly #claims = new Map<string, Map<string, BudgetClaim>>()
  /** The same the other way round: by node, then by the budget's uid. */
  readonly #needs = new Map<string, ReadonlyMap<string, number>>()

  constructor(ports: OperatorPorts, wake: (node: string) => void, signal: AbortSignal) {
    this.#ports = ports
    this.#wake = wake
    this.#watch = new SharedWatch({
      ports,
      type: podDisruptionBudgets,
      transform: slimBudget,
      // A cluster has about one budget for each workload: a pod's own are found by a label, not among all of them.
      indexes: { term: ({ metadata, spec }) => [`${metadata.namespace ?? ''}/${requiredTerm(spec.selector)}`] },
      changed: ({ metadata }) => this.#wakeWaiting(metadata.uid),
      signal,
    })
  }

  use(): () => void {
    return this.#watch.use()
  }

  async synced(signal: AbortSignal): Promise<void> {
    await this.#watch.synced(signal)
  }

  get isSynced(): boolean {
    return this.#watch.isSynced
  }

  get failure(): unknown {
    return this.#watch.failure
  }

  budgetsOf(pod: Pod): readonly PodDisruptionBudget[] {
    const { namespace = '', labels } = pod.metadata
    return termsOf(labels)
      .flatMap((term) => this.#watch.byIndex('term', `${namespace}/${term}`))
      .filter(({ spec }) => spec.selector !== undefined && selects(spec.selector, labels))
  }

  /** What the budget has for this node, taken at that instant. */
  allowance(budget: PodDisruptionBudget, node: string, since: string): Allowance {
    const allowed = (budget.status?.disruptionsAllowed ?? 0) - this.#reservedOf(budget)
    return allowanceFor(node, since, allowed, this.#claims.get(budget.metadata.uid) ?? [])
  }

  /** What the node needs from now on of each budget, by its uid. Where it is less than before, others may have a turn. */
  claim(node: string, since: string, needs: ReadonlyMap<string, number>): void {
    const before = this.#needs.get(node) ?? new Map<string, number>()
    if (needs.size > 0) this.#needs.set(node, needs)
    else this.#needs.delete(node)
    for (const [uid, pods] of needs) {
      const claims = this.#claims.get(uid) ?? new Map<string, BudgetClaim>()
      this.#claims.set(uid, claims.set(node, { since, pods }))
    }
    for (const [uid, pods] of before) {
      if (!needs.has(uid)) this.#dropClaim(uid, node)
      if ((needs.get(uid) ?? 0) < pods) this.#wakeWaiting(uid)
    }
  }

  reserve(budget: PodDisruptionBudget): void {
    const { uid, resourceVersion } = budget.metadata
    this.#reserved.set(uid, { resourceVersion, count: this.#reservedOf(budget) + 1 })
  }

  /** The eviction was refused: what was set aside for it is free for others, who are told in a while, not in a loop. */
  unreserve(budget: PodDisruptionBudget): void {
    const { uid } = budget.metadata
    const entry = this.#reserved.get(uid)
    if (entry) this.#reserved.set(uid, { ...entry, count: Math.max(0, entry.count - 1) })
    this.#ports.clock.after(freedMs, () => this.#wakeWaiting(uid))
  }

  /** Wakes the node when this budget changes. */
  waitFor(budget: PodDisruptionBudget, node: string): void {
    const { uid } = budget.metadata
    const nodes = this.#waiting.get(uid) ?? new Set()
    this.#waiting.set(uid, nodes.add(node))
  }

  #dropClaim(uid: string, node: string): void {
    const claims = this.#claims.get(uid)
    claims?.delete(node)
    if (claims?.size === 0) this.#claims.delete(uid)
  }

  #reservedOf(budget: PodDisruptionBudget): number {
    const entry = this.#reserved.get(budget.metadata.uid)
    return entry?.resourceVersion === budget.metadata.resourceVersion ? entry.count : 0
  }

  #wakeWaiting(budgetUID: string): void {
    const nodes = this.#waiting.get(budgetUID)
    this.#waiting.delete(budgetUID)
    for (const node of nodes ?? []) this.#wake(node)
  }
}

function slimBudget({ metadata, spec, status }: PodDisruptionBudget): PodDisruptionBudget {
  const {
    managedFields: _fields,
    annotations: _annotations,
    ...kept
  } = metadata as typeof metadata & { managedFields?: unknown }
  return { metadata: kept, spec, ...(status && { status }) }
}
