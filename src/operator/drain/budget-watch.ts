// PodDisruptionBudgets, watched only while something drains. Also remembers what we asked for and the budget's status does
// not show yet, so that several drains do not ask for the same allowance.

import { type Pod, type PodDisruptionBudget, podDisruptionBudgets } from '../../api/kube.ts'
import { requiredTerm, selects, termsOf } from '../../core/label-selector.ts'
import { LinkedAbort } from '../../kube/linked-abort.ts'
import { Reflector } from '../../kube/reflector.ts'
import { Store } from '../../kube/store.ts'
import type { CancelTimer } from '../../ports/clock.ts'
import type { OperatorPorts } from '../ports.ts'

const lingerMs = 60_000
const freedMs = 1_000

interface Watch {
  readonly store: Store<PodDisruptionBudget>
  readonly reflector: Reflector<PodDisruptionBudget>
  readonly stop: () => void
}

export class BudgetWatch {
  readonly #ports: OperatorPorts
  readonly #wake: (node: string) => void
  readonly #signal: AbortSignal
  #users = 0
  #stopTimer: CancelTimer | undefined
  #watch: Watch | undefined
  readonly #reserved = new Map<string, { readonly resourceVersion: string; readonly count: number }>()
  /** Nodes that wait for a budget, by its uid. */
  readonly #waiting = new Map<string, Set<string>>()

  constructor(ports: OperatorPorts, wake: (node: string) => void, signal: AbortSignal) {
    this.#ports = ports
    this.#wake = wake
    this.#signal = signal
    signal.addEventListener('abort', () => this.#stopTimer?.(), { once: true })
  }

  /** Watches as long as somebody uses it, and a while longer: the next drain is seldom far. */
  use(): () => void {
    this.#users++
    this.#stopTimer?.()
    this.#stopTimer = undefined
    this.#watch ??= this.#start()
    return () => {
      this.#users--
      if (this.#users > 0) return
      this.#stopTimer = this.#ports.clock.after(lingerMs, () => {
        this.#watch?.stop()
        this.#watch = undefined
      })
    }
  }

  async synced(signal: AbortSignal): Promise<void> {
    await this.#watch?.reflector.synced(signal)
  }

  budgetsOf(pod: Pod): readonly PodDisruptionBudget[] {
    if (!this.#watch) return []
    const { store } = this.#watch
    const { namespace = '', labels } = pod.metadata
    return termsOf(labels)
      .flatMap((term) => store.byIndex('term', `${namespace}/${term}`))
      .filter(({ spec }) => spec.selector !== undefined && selects(spec.selector, labels))
  }

  reserved(budget: PodDisruptionBudget): number {
    const entry = this.#reserved.get(budget.metadata.uid)
    return entry?.resourceVersion === budget.metadata.resourceVersion ? entry.count : 0
  }

  reserve(budget: PodDisruptionBudget): void {
    const { uid, resourceVersion } = budget.metadata
    this.#reserved.set(uid, { resourceVersion, count: this.reserved(budget) + 1 })
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

  #wakeWaiting(budgetUID: string): void {
    const nodes = this.#waiting.get(budgetUID)
    this.#waiting.delete(budgetUID)
    for (const node of nodes ?? []) this.#wake(node)
  }

  #start(): Watch {
    const store = new Store<PodDisruptionBudget>({
      // A cluster has about one budget for each workload: a pod's own are found by a label, not among all of them.
      indexes: { term: ({ metadata, spec }) => [`${metadata.namespace ?? ''}/${requiredTerm(spec.selector)}`] },
    })
    store.subscribe(({ object }) => this.#wakeWaiting(object.metadata.uid))
    const reflector = new Reflector({ ...this.#ports, type: podDisruptionBudgets, store, transform: slimBudget })
    this.#ports.log.debug('watching PodDisruptionBudgets')
    const life = new LinkedAbort(this.#signal)
    void reflector.run(life.signal)
    return { store, reflector, stop: () => life.abort('nothing drains') }
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
