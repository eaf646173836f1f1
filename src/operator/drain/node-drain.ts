// Empties one node: watches its pods, asks for the evictions the judgement allows, and reports what is left and why.

import { type Pod, pods } from '../../api/kube.ts'
import { isKubeError } from '../../api/kube-error.ts'
import type { Reason } from '../../api/reason.ts'
import { judgePod, podName } from '../../core/drain/judge-pod.ts'
import type { DrainReport } from '../../core/node/node-view.ts'
import type { Operation } from '../../core/update/operation.ts'
import { LinkedAbort } from '../../kube/linked-abort.ts'
import { Reflector } from '../../kube/reflector.ts'
import { Store } from '../../kube/store.ts'
import type { OperatorPorts } from '../ports.ts'
import type { BudgetWatch } from './budget-watch.ts'
import type { OwnPods } from './own-pods.ts'
import { slimPod } from './slim-pod.ts'

/** A pod that is still there this long after its grace is stuck. */
const overdueMs = 30_000
const retryMs = { refused: 5_000, overBudget: 1_000 }

export class NodeDrain {
  readonly #ports: OperatorPorts
  readonly #node: string
  readonly #budgets: BudgetWatch
  readonly #ownPods: OwnPods
  readonly #store = new Store<Pod>()
  readonly #reflector: Reflector<Pod>
  readonly #life: LinkedAbort
  readonly #release: () => void
  /** Evictions that were accepted or refused, by pod uid, until the watch tells more or it is time to ask again. */
  readonly #asked = new Map<string, { readonly reason: Reason; readonly againAtMs: number }>()
  #most = 0
  #isSynced = false

  constructor(options: {
    readonly ports: OperatorPorts
    readonly node: string
    readonly budgets: BudgetWatch
    readonly ownPods: OwnPods
    readonly wake: () => void
    readonly signal: AbortSignal
  }) {
    this.#ports = options.ports
    this.#node = options.node
    this.#budgets = options.budgets
    this.#ownPods = options.ownPods
    this.#release = options.budgets.use()
    this.#store.subscribe(options.wake)
    const selection = { fieldSelector: `spec.nodeName=${options.node}` }
    this.#reflector = new Reflector({ ...this.#ports, type: pods, store: this.#store, selection, transform: slimPod })
    this.#life = new LinkedAbort(options.signal)
    void this.#reflector.run(this.#life.signal)
  }

  stop(): void {
    this.#life.abort('the drain is over')
    this.#release()
  }

  async synced(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#reflector.synced(signal), this.#budgets.synced(signal)])
    this.#isSynced = true
  }

  /** Whether all pods of the node are known: before that an empty node only looks like one. */
  get isSynced(): boolean {
    return this.#isSynced
  }

  /** One look at all pods. Asks for what may go, and says what is left and when to look again. */
  async step(
    operation: Operation,
    signal: AbortSignal,
  ): Promise<DrainReport & { readonly againMs: number | undefined }> {
    const nowMs = this.#ports.clock.monotonicMs()
    const blocked: DrainReport['blocked'][number][] = []
    const evictions: Promise<void>[] = []
    let left = 0
    let againAtMs = Number.POSITIVE_INFINITY
    const own: Pod[] = []
    for (const pod of this.#store.values()) {
      const verdict = this.#judge(pod, operation)
      if (verdict.action === 'skip') continue
      left++
      const asked = this.#asked.get(pod.metadata.uid)
      if (pod.metadata.deletionTimestamp === undefined && asked && nowMs < asked.againAtMs) {
        if (asked.reason.code !== 'PodEvicting') blocked.push({ pod: podName(pod), reason: asked.reason })
        againAtMs = Math.min(againAtMs, asked.againAtMs)
      } else if (verdict.action === 'wait') {
        if (!this.#isGoing(pod)) blocked.push({ pod: podName(pod), reason: verdict.reason })
      } else if (this.#ownPods.isOwn(pod)) {
        own.push(pod)
      } else {
        evictions.push(this.#evict(pod, verdict.budgetUID, operation, signal))
      }
    }
    await Promise.all(evictions)
    if (own.length > 0 && left === own.length) await this.#moveOperator(own, operation, signal)
    this.#most = Math.max(this.#most, left)
    const againMs = Number.isFinite(againAtMs) ? Math.max(0, againAtMs - nowMs) : undefined
    return { total: this.#most, left, blocked: blocked.sort((a, b) => (a.pod < b.pod ? -1 : 1)), againMs }
  }

  #judge(pod: Pod, operation: Operation): ReturnType<typeof judgePod> {
    // One that is going needs no budget's leave any more, and no news of it.
    const budgets = pod.metadata.deletionTimestamp === undefined ? this.#budgets.budgetsOf(pod) : []
    const verdict = judgePod(
      {
        pod,
        budgets,
        reserved: (uid) => {
          const budget = budgets.find(({ metadata }) => metadata.uid === uid)
          return budget ? this.#budgets.reserved(budget) : 0
        },
        operator: this.#ownPods.fate(pod, this.#node),
      },
      operation.drain,
    )
    const [budget] = budgets
    if (budget && verdict.action === 'wait') this.#budgets.waitFor(budget, this.#node)
    return verdict
  }

  /** On its way out in good time: nothing a person has to know of. Its deletion instant is when its grace is over. */
  #isGoing({ metadata }: Pod): boolean {
    const { deletionTimestamp } = metadata
    return (
      deletionTimestamp !== undefined && this.#ports.clock.now().getTime() < Date.parse(deletionTimestamp) + overdueMs
    )
  }

  async #evict(pod: Pod, budgetUID: string | undefined, { drain }: Operation, signal: AbortSignal): Promise<void> {
    const charged = this.#budgets.budgetsOf(pod).find(({ metadata }) => metadata.uid === budgetUID)
    if (charged) this.#budgets.reserve(charged)
    const { name, namespace = '', uid } = pod.metadata
    const remember = (reason: Reason, afterMs: number) =>
      this.#asked.set(uid, { reason, againAtMs: this.#ports.clock.monotonicMs() + afterMs })
    try {
      const grace = drain.podGraceSeconds === undefined ? {} : { gracePeriodSeconds: drain.podGraceSeconds }
      await this.#ports.api.evict({ name, namespace }, { uid, ...grace }, signal)
      remember({ code: 'PodEvicting', message: `evicting ${podName(pod)}` }, 30_000)
    } catch (error) {
      if (charged) this.#budgets.unreserve(charged)
      if (isKubeError(error, 'NotFound', 'Conflict')) return
      if (!isKubeError(error)) throw error
      const overBudget = error.code === 'TooManyRequests'
      const twoBudgets = error.code === 'ServerError' && /more than one PodDisruptionBudget/.test(error.message)
      const code = overBudget ? 'PodDisruptionBudget' : twoBudgets ? 'PodUnderTwoBudgets' : 'PodEvictionRefused'
      const delay = overBudget
        ? Math.max(retryMs.overBudget, Math.min(error.retryAfterMs ?? 0, 10_000))
        : retryMs.refused
      remember({ code, message: `${podName(pod)}: ${error.message}` }, delay)
      const [budget] = this.#budgets.budgetsOf(pod)
      if (budget && overBudget) this.#budgets.waitFor(budget, this.#node)
    }
  }

  /** The operator's own pods go last: the leader hands over first, and whoever leads then moves the rest. */
  async #moveOperator(own: readonly Pod[], operation: Operation, signal: AbortSignal): Promise<void> {
    if (own.some((pod) => this.#ownPods.isSelf(pod)) && this.#ownPods.replicaElsewhere(this.#node)) {
      await this.#ownPods.handOver()
      return
    }
    await Promise.all(own.map((pod) => this.#evict(pod, undefined, operation, signal)))
  }
}
