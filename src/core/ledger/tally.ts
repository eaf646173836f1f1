// Who is away, budget by budget, as one pass over the ledger goes on. Nothing here walks over all nodes: the sets are kept
// elsewhere, change by change, and a pass only adds to them what it books.

import type { Reason } from '../../api/reason.ts'

export interface Budget {
  readonly name: string
  readonly maxUnavailable: number
  /** The nodes of its set that nothing new can run on. Absent = it counts every node of the cluster. */
  readonly away?: ReadonlySet<string> | undefined
}

export interface Absences {
  /** Nodes that nothing new can run on, whatever the cause. */
  readonly unavailable: ReadonlySet<string>
  /** Nodes with a slot, and who holds it; they may be away already or about to go. */
  readonly held: ReadonlyMap<string, string>
  /** Nodes that somebody who is not Slipway works on, and who says so. */
  readonly foreign?: ReadonlyMap<string, string> | undefined
  /** Of those with a slot, who failed: they come back when a person has looked at them. */
  readonly isBroken?: ((node: string) => boolean) | undefined
  /** Away by nothing but a cordon of ours: without a slot it may be back before anything that is decided now is written. */
  readonly isOursToPutBack?: ((node: string) => boolean) | undefined
  /** The budgets a node counts against; the same object for the same budget throughout a pass. */
  readonly budgetsOf: (node: string) => readonly Budget[]
  /** In a few words, why a node is away. */
  readonly causeOf?: ((node: string) => string) | undefined
}

export class Tally {
  readonly #absences: Absences
  /** Away by a slot or by others, though things can still run there. */
  readonly #leaving = new Map<string, string>()
  readonly #leavingOf = new Map<Budget, Set<string>>()
  /** Within a pass nodes only leave: what is spent stays so, and many nodes ask. */
  readonly #spent = new Map<Budget, Reason>()

  constructor(absences: Absences) {
    this.#absences = absences
    for (const [node, holder] of absences.held) this.take(node, `held by ${holder}`)
    for (const [node, who] of absences.foreign ?? []) this.take(node, who)
  }

  get away(): number {
    return this.#absences.unavailable.size + this.#leaving.size
  }

  isAway(node: string): boolean {
    return this.#absences.unavailable.has(node) || this.#leaving.has(node)
  }

  take(node: string, cause: string): void {
    if (this.isAway(node)) return
    this.#leaving.set(node, cause)
    for (const budget of this.#absences.budgetsOf(node)) {
      const leaving = this.#leavingOf.get(budget)
      if (leaving) leaving.add(node)
      else this.#leavingOf.set(budget, new Set([node]))
    }
  }

  /** Why taking this node away would break the budget; a node already away costs nothing more, if it stays so. */
  broken(node: string, budget: Budget): Reason | undefined {
    if (this.isAway(node)) return this.#mayComeBack(node) ? this.#judge(budget, node) : undefined
    const known = this.#spent.get(budget)
    if (known) return known
    const reason = this.#judge(budget)
    if (reason) this.#spent.set(budget, reason)
    return reason
  }

  #mayComeBack(node: string): boolean {
    const { held, isOursToPutBack } = this.#absences
    return !held.has(node) && !this.#leaving.has(node) && (isOursToPutBack?.(node) ?? false)
  }

  /** Without `itself`, which is away already and would stay so. */
  #judge(budget: Budget, itself?: string): Reason | undefined {
    const away = without(budget.away ?? this.#absences.unavailable, itself)
    const leaving = budget.away ? (this.#leavingOf.get(budget) ?? new Set<string>()) : this.#leaving
    const count = away.size + leaving.size
    if (count + 1 <= budget.maxUnavailable) return undefined
    const names = [...firstOf(away, leaving.keys(), 3)].map((name) => `${name} (${this.#cause(name)})`)
    const more = count > names.length ? ` and ${count - names.length} more` : ''
    const said = `${budget.name}: ${count} of ${budget.maxUnavailable} away: ${names.join(', ')}${more}`
    const held = [...leaving.keys(), ...[...this.#absences.held.keys()].filter((name) => away.has(name))]
    if (held.length === 0) {
      return {
        code: 'BudgetAllowsNothing',
        message: `nothing can start: ${said}; bring back what is away, or raise spec.budgets of MaintenancePolicy default`,
      }
    }
    return this.areBroken(held) ? inTheWay(said, held) : { code: 'BudgetSpent', message: said }
  }

  /** All of them: no work of ours brings one back. */
  areBroken(names: readonly string[]): boolean {
    const { isBroken } = this.#absences
    return isBroken !== undefined && names.every((name) => this.#absences.held.has(name) && isBroken(name))
  }

  #cause(node: string): string {
    const holder = this.#absences.held.get(node)
    if (holder !== undefined) return this.areBroken([node]) ? `failed for ${holder}` : `held by ${holder}`
    return this.#leaving.get(node) ?? this.#absences.causeOf?.(node) ?? 'unavailable'
  }
}

function without(names: ReadonlySet<string>, one: string | undefined): ReadonlySet<string> {
  return one === undefined ? names : new Set([...names].filter((name) => name !== one))
}

/** Nodes that failed keep what the next one needs. */
export function inTheWay(said: string, failed: readonly string[]): Reason {
  const [first = ''] = failed
  const next = `slipway why ${first} tells what failed and what goes on; slipway release ${first} does without it`
  return { code: 'FailedNodesInTheWay', message: `nothing can start: ${said}; ${next}` }
}

function* firstOf(a: Iterable<string>, b: Iterable<string>, limit: number): Generator<string> {
  let left = limit
  for (const names of [a, b]) {
    for (const name of names) {
      if (left-- <= 0) return
      yield name
    }
  }
}
