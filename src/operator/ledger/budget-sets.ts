// The sets of nodes the policy's budgets speak of, and who of each is away: kept up to date change by change, so that a pass
// over the ledger asks and never counts.

import type { BudgetSpec } from '../../api/budget.ts'
import type { Node } from '../../api/kube.ts'
import { resolveCount } from '../../core/count.ts'
import { selects } from '../../core/label-selector.ts'
import { budgetSetName, budgetTitle } from '../../core/ledger/budget-name.ts'
import type { Budget } from '../../core/ledger/tally.ts'
import { equalJson } from '../../core/merge-patch.ts'
import { isUnavailable } from '../../core/node/node-facts.ts'
import type { Cluster } from '../cluster/cluster.ts'

const none: readonly Budget[] = []

/** How full a budget is; of one for each value of a label, the fullest of its sets. */
export interface BudgetUse {
  readonly budget: string
  readonly limit: number
  readonly used: number
}

export class BudgetSets {
  readonly #nodes: Cluster['nodes']
  #specs: readonly BudgetSpec[] = []
  /** For each budget its sets, by the value of its label. */
  #sets: readonly Map<string, NodeSet>[] = []
  readonly #setsOf = new Map<string, readonly NodeSet[]>()

  constructor({ nodes }: Pick<Cluster, 'nodes'>) {
    this.#nodes = nodes
    nodes.subscribe(({ key, type, object }) => this.#note(key, type === 'removed' ? undefined : object))
  }

  /** From now on these are the budgets. */
  follow(specs: readonly BudgetSpec[]): void {
    if (equalJson(specs, this.#specs)) return
    this.#specs = specs
    this.#sets = specs.map(() => new Map())
    this.#setsOf.clear()
    for (const node of this.#nodes.values()) this.#note(node.metadata.name, node)
  }

  /** The budgets a node counts against. */
  of(node: string): readonly Budget[] {
    return this.#setsOf.get(node) ?? none
  }

  /** `unavailable`: of the whole cluster. `held`: nodes with a slot, which may be there still. */
  *use(unavailable: ReadonlySet<string>, held: Iterable<string>): Generator<BudgetUse> {
    const leaving = [...held].filter((node) => !unavailable.has(node))
    for (const [index, spec] of this.#specs.entries()) {
      const uses = [...(this.#sets[index]?.values() ?? [])].map((set) => {
        const counted = set.away ? leaving.filter((node) => this.of(node).includes(set)) : leaving
        return { limit: set.maxUnavailable, used: (set.away ?? unavailable).size + counted.length }
      })
      const [fullest] = uses.sort((a, b) => b.used / b.limit - a.used / a.limit || a.limit - b.limit)
      if (fullest) yield { budget: budgetTitle(spec), ...fullest }
    }
  }

  #note(name: string, node: Node | undefined): void {
    if (this.#specs.length === 0) return
    for (const set of this.#setsOf.get(name) ?? []) set.remove(name)
    if (!node) {
      this.#setsOf.delete(name)
      return
    }
    const sets = this.#specs.flatMap((spec, index) => this.#setFor(spec, index, node) ?? [])
    for (const set of sets) set.add(name, isUnavailable(node))
    this.#setsOf.set(name, sets)
  }

  #setFor(spec: BudgetSpec, index: number, { metadata }: Node): NodeSet | undefined {
    if (!selects(spec.nodeSelector, metadata.labels)) return undefined
    const value = spec.per === undefined ? undefined : metadata.labels?.[spec.per]
    // No label has a space in its value.
    const key = value ?? ' '
    const found = this.#sets[index]?.get(key)
    if (found) return found
    const made = new NodeSet(spec, budgetSetName(spec, value))
    this.#sets[index]?.set(key, made)
    return made
  }
}

class NodeSet implements Budget {
  readonly name: string
  readonly #spec: BudgetSpec
  readonly #away = new Set<string>()
  #members = 0

  constructor(spec: BudgetSpec, name: string) {
    this.#spec = spec
    this.name = name
  }

  get maxUnavailable(): number {
    return resolveCount(this.#spec.maxUnavailable, this.#members)
  }

  /** Absent for the whole cluster: what is away anywhere counts. */
  get away(): ReadonlySet<string> | undefined {
    return this.#spec.per === undefined && this.#spec.nodeSelector === undefined ? undefined : this.#away
  }

  add(node: string, isAway: boolean): void {
    this.#members++
    if (isAway) this.#away.add(node)
  }

  remove(node: string): void {
    this.#members--
    this.#away.delete(node)
  }
}
