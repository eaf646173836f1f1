// Pods go by once and leave sums behind: with 150,000 of them nothing else would fit.

import type { Container, Pod, PodDisruptionBudget } from '../../api/kube.ts'
import { unreckoned } from '../drain/budget-text.ts'
import { type Drain, ruleFor } from '../drain/drain-policy.ts'
import { podName } from '../drain/workload-of.ts'
import { parseQuantity } from '../kubernetes/quantity.ts'
import { requiredTerm, selects, termsOf } from '../label-selector.ts'
import { plus } from './capacity.ts'
import type { Amount, BudgetSight, NodeLoad, PodSight } from './sights.ts'

const keptAtMost = 20
const nothing: Amount = { cpu: 0, memoryBytes: 0, pods: 0 }
const none = { pod: '', amount: 0 }

interface Tallied {
  readonly budget: PodDisruptionBudget
  pods: number
  example: string
}

export class PodTally {
  readonly #concerns: (node: string) => boolean
  readonly #drain: Drain
  /** By namespace and one label that every pod of theirs carries. */
  readonly #budgets = new Map<string, Tallied[]>()
  readonly #loads = new Map<string, NodeLoad>()
  readonly #underTwo: PodSight['underTwo']['first'][number][] = []
  #underTwoTotal = 0

  /** `concerns`: whether the update may drain that node. */
  constructor(budgets: readonly PodDisruptionBudget[], concerns: (node: string) => boolean, drain: Drain) {
    this.#concerns = concerns
    this.#drain = drain
    for (const budget of budgets) {
      if (budget.spec.selector === undefined) continue
      const key = `${budget.metadata.namespace}/${requiredTerm(budget.spec.selector)}`
      this.#budgets.set(key, [...(this.#budgets.get(key) ?? []), { budget, pods: 0, example: '' }])
    }
  }

  add(pod: Pod): void {
    const node = pod.spec.nodeName
    if (node === undefined || pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed') return
    const rule = ruleFor(pod, this.#drain)?.action
    const moves = rule !== 'Skip' && doesMove(pod)
    this.#addLoad(node, pod, moves)
    // What is deleted in spite of its budget does not wait for it.
    if (!moves || rule === 'Force' || !this.#concerns(node)) return
    const found = this.#budgetsOf(pod)
    for (const tallied of found) {
      tallied.pods += 1
      tallied.example ||= podName(pod)
    }
    const [one, two] = found
    if (!one || !two) return
    this.#underTwoTotal += 1
    if (this.#underTwo.length < keptAtMost) {
      this.#underTwo.push({ pod: podName(pod), budgets: [nameOf(one.budget), nameOf(two.budget)] })
    }
  }

  get sight(): PodSight {
    const budgets = [...this.#budgets.values()].flat().filter(({ pods }) => pods > 0)
    return {
      loads: this.#loads,
      budgets: budgets.map(sightOf),
      underTwo: { total: this.#underTwoTotal, first: this.#underTwo },
    }
  }

  #budgetsOf({ metadata }: Pod): readonly Tallied[] {
    const { namespace, labels } = metadata
    return termsOf(labels)
      .flatMap((term) => this.#budgets.get(`${namespace}/${term}`) ?? [])
      .filter(({ budget }) => selects(budget.spec.selector, labels))
  }

  #addLoad(node: string, pod: Pod, moves: boolean): void {
    const before = this.#loads.get(node) ?? {
      asked: nothing,
      moving: nothing,
      largestCpu: none,
      largestMemory: none,
    }
    const asked = requestsOf(pod)
    const larger = (than: NodeLoad['largestCpu'], amount: number) =>
      moves && amount > than.amount ? { pod: podName(pod), amount } : than
    this.#loads.set(node, {
      asked: plus(before.asked, asked),
      moving: moves ? plus(before.moving, asked) : before.moving,
      largestCpu: larger(before.largestCpu, asked.cpu),
      largestMemory: larger(before.largestMemory, asked.memoryBytes),
    })
  }
}

function sightOf({ budget, pods, example }: Tallied): BudgetSight {
  const { metadata, status } = budget
  const failure = unreckoned(budget)
  return {
    name: nameOf(budget),
    ...(failure !== undefined && { unreckoned: failure }),
    current: status?.observedGeneration !== undefined && status.observedGeneration === metadata.generation,
    expectedPods: status?.expectedPods ?? 0,
    desiredHealthy: status?.desiredHealthy ?? 0,
    pods,
    example,
  }
}

function nameOf({ metadata }: PodDisruptionBudget): string {
  return `${metadata.namespace}/${metadata.name}`
}

/** Static pods and DaemonSet pods stay; a pod that goes already needs no new place from us. */
function doesMove({ metadata }: Pod): boolean {
  if (metadata.annotations?.['kubernetes.io/config.mirror'] !== undefined) return false
  if (metadata.deletionTimestamp !== undefined) return false
  return !metadata.ownerReferences?.some(({ controller, kind }) => controller === true && kind === 'DaemonSet')
}

/** As the scheduler reckons: containers and sidecars together, or the largest init container, and the overhead. */
function requestsOf({ spec }: Pod): Amount {
  const init = spec.initContainers ?? []
  const lasting = [...spec.containers, ...init.filter(({ restartPolicy }) => restartPolicy === 'Always')]
  const of = (resource: string): number => {
    const whole = quantity(spec.resources?.requests, resource)
    const sum = lasting.reduce((total, container) => total + request(container, resource), 0)
    const largest = Math.max(0, ...init.map((container) => request(container, resource)))
    return (whole || Math.max(sum, largest)) + quantity(spec.overhead, resource)
  }
  return { cpu: of('cpu'), memoryBytes: of('memory'), pods: 1 }
}

function request({ resources }: Container, resource: string): number {
  return quantity(resources?.requests, resource)
}

function quantity(amounts: Readonly<Record<string, string | number>> | undefined, resource: string): number {
  return parseQuantity(String(amounts?.[resource] ?? '0')) ?? 0
}
