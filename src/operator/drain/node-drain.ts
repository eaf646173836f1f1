// Empties one node: watches its pods, does to each what the judgement says, and reports what is left and why.

import { type Node, type Pod, type PodDisruptionBudget, pods } from '../../api/kube.ts'
import type { Rollout } from '../../api/node-state.ts'
import type { DrainTimes } from '../../core/drain/drain-policy.ts'
import { judgePod, type PodJudgement, type PodView } from '../../core/drain/judge-pod.ts'
import { podName } from '../../core/drain/workload-of.ts'
import { isReady } from '../../core/node/node-facts.ts'
import type { DrainReport } from '../../core/node/node-view.ts'
import type { Operation } from '../../core/update/operation.ts'
import { LinkedAbort } from '../../kube/linked-abort.ts'
import { Reflector } from '../../kube/reflector.ts'
import { settlesSoon } from '../../kube/settles-soon.ts'
import { Store } from '../../kube/store.ts'
import type { OperatorPorts } from '../ports.ts'
import type { BudgetKeepers } from './budget-keepers.ts'
import type { BudgetWatch } from './budget-watch.ts'
import type { OwnPods } from './own-pods.ts'
import { Requests } from './requests.ts'
import { slimPod } from './slim-pod.ts'
import type { VolumeWatch } from './volume-watch.ts'

/** What the drains of one term share. */
export interface DrainTools {
  readonly ports: OperatorPorts
  readonly budgets: BudgetWatch
  readonly keepers: BudgetKeepers
  readonly volumes: VolumeWatch
  readonly ownPods: OwnPods
}

export interface DrainStep {
  readonly operation: Operation
  readonly node: Node
  readonly rollout: Rollout
  /** When the node was taken: the older goes first where two want the same. */
  readonly takenAt: string
  readonly now: Date
  readonly graceUntil: Date
}

export type StepReport = DrainReport & { readonly againMs: number | undefined }

/** A budget that holds a pod up for less than this needs no explanation. */
const keeperAfterMs = 1_500
const noMore = new Map<string, number>()

export class NodeDrain {
  readonly #tools: DrainTools
  readonly #node: string
  readonly #store = new Store<Pod>()
  readonly #reflector: Reflector<Pod>
  readonly #life: LinkedAbort
  readonly #releases: readonly (() => void)[]
  readonly #requests: Requests
  /** Since when a budget holds somebody up here, by its uid. */
  #held = new Map<string, { readonly budget: PodDisruptionBudget; readonly sinceMs: number }>()
  readonly #wake: () => void
  #isLate = false
  #most = 0
  #isSynced = false

  constructor(tools: DrainTools, node: string, wake: () => void, signal: AbortSignal) {
    this.#tools = tools
    this.#node = node
    this.#wake = wake
    this.#requests = new Requests(tools, node)
    this.#releases = [tools.budgets.use(), tools.volumes.use()]
    this.#store.subscribe(wake)
    const selection = { fieldSelector: `spec.nodeName=${node}` }
    this.#reflector = new Reflector({ ...tools.ports, type: pods, store: this.#store, selection, transform: slimPod })
    this.#life = new LinkedAbort(signal)
    void this.#reflector.run(this.#life.signal)
  }

  stop(): void {
    this.#life.abort('the drain is over')
    this.#tools.budgets.claim(this.#node, '', noMore)
    for (const release of this.#releases) release()
  }

  async synced(signal: AbortSignal): Promise<void> {
    const { budgets, volumes } = this.#tools
    await Promise.all([this.#reflector.synced(signal), budgets.synced(signal), volumes.synced(signal)])
    this.#isSynced = true
  }

  /** Waits a moment for the pods to be known. Where they are not by then, `unknown` says why and the node is woken when they are. */
  async learn(signal: AbortSignal): Promise<void> {
    if (await settlesSoon(this.#tools.ports.clock, (until) => this.synced(until), signal)) return
    this.#isLate = true
    this.synced(this.#life.signal).then(this.#wake, () => undefined)
  }

  /** Why not all is known yet; undefined while that is no wonder. */
  get unknown(): string | undefined {
    if (this.#isSynced || !this.#isLate) return undefined
    const { budgets, volumes } = this.#tools
    const missing = [
      { what: `the pods of ${this.#node}`, of: this.#reflector },
      { what: 'PodDisruptionBudgets', of: budgets },
      { what: 'VolumeAttachments', of: volumes },
    ].find(({ of }) => !of.isSynced)
    const { failure } = missing?.of ?? {}
    const because = failure === undefined ? 'the API server has not answered yet' : textOf(failure)
    return `${missing?.what ?? 'its pods'} cannot be listed: ${because}; nothing is asked to leave before`
  }

  /** Whether all pods of the node are known: before that an empty node only looks like one. */
  get isSynced(): boolean {
    return this.#isSynced
  }

  /** One look at all pods. Asks for what may go, and says what is left and when to look again. */
  async step(step: DrainStep, signal: AbortSignal): Promise<StepReport> {
    await this.#lookAtKeepers(signal)
    const views = this.#views(step)
    this.#claim(views, step)
    const blocked: DrainReport['blocked'][number][] = []
    const going: string[] = []
    const asked: Pod[] = []
    const calls: Promise<void>[] = []
    const own: Pod[] = []
    const staying: Pod[] = []
    const waits: number[] = []
    const held = new Set<PodDisruptionBudget>()
    let left = 0
    for (const view of views) {
      const { pod } = view
      const verdict = judgePod(view, step.operation.drain)
      if (verdict.action === 'skip') {
        staying.push(pod)
        continue
      }
      left++
      const nextMs = 'nextMs' in verdict ? (verdict.nextMs ?? 0) - step.now.getTime() : 0
      if (nextMs > 0) waits.push(nextMs)
      const askedMs = this.#requests.restMs(pod)
      if (askedMs !== undefined) waits.push(askedMs)
      if (verdict.action === 'wait' || verdict.action === 'force') {
        for (const budget of view.budgets) {
          this.#tools.budgets.waitFor(budget, this.#node)
          if (verdict.reason.code === 'PodDisruptionBudget') held.add(budget)
        }
        blocked.push(entryOf(pod, verdict, step.now))
      } else going.push(verdict.reason.message)
      if (verdict.action === 'wait' || verdict.action === 'leave') continue
      if (this.#requests.isAnswered(pod, verdict.action)) continue
      if (this.#tools.ownPods.isOwn(pod)) own.push(pod)
      else {
        asked.push(pod)
        calls.push(this.#requests.send(pod, verdict, signal))
      }
    }
    await Promise.all(calls)
    // Nobody else may have a reason to wake this node: a refusal is judged, and told, with the next look; and where the watch
    // does not show what was accepted, it is asked for again.
    if (own.length > 0 && left === own.length) asked.push(...(await this.#moveOperator(own, signal)))
    for (const pod of asked) waits.push(this.#requests.refusalOf(pod) ? 0 : (this.#requests.restMs(pod) ?? 0))
    this.#remember(held)
    this.#most = Math.max(this.#most, left)
    const volumes = left > 0 ? [] : await this.#tools.volumes.leftBehind(this.#node, staying, signal)
    return {
      total: this.#most,
      left,
      blocked: blocked.sort((a, b) => (a.pod < b.pod ? -1 : 1)),
      going: going.sort(),
      volumes,
      againMs: waits.length > 0 ? Math.min(...waits) : undefined,
    }
  }

  #views({ node, rollout, takenAt, now, graceUntil }: DrainStep): readonly PodView[] {
    const { budgets, keepers, ownPods } = this.#tools
    const times: DrainTimes = {
      nowMs: now.getTime(),
      sinceMs: Date.parse(rollout.since),
      deadlineMs: rollout.deadline === undefined ? Number.POSITIVE_INFINITY : Date.parse(rollout.deadline),
      graceUntilMs: graceUntil.getTime(),
    }
    const recorded = new Map(rollout.drain?.pods.map(({ pod, reason }) => [pod, reason.code]))
    const common = {
      node: { name: this.#node, ready: isReady(node) },
      times,
      allowance: (budget: PodDisruptionBudget) => budgets.allowance(budget, this.#node, takenAt),
      keeper: (budget: PodDisruptionBudget) => keepers.of(budget),
    }
    return [...this.#store.values()].map((pod) => ({
      ...common,
      pod,
      // One that is going needs no budget's leave any more, and no news of it.
      budgets: pod.metadata.deletionTimestamp === undefined ? budgets.budgetsOf(pod) : [],
      refusal: this.#requests.refusalOf(pod),
      recorded: recorded.get(podName(pod)),
      operator: ownPods.fate(pod, this.#node),
    }))
  }

  /** Says what this node would ask of each budget if it were let. */
  #claim(views: readonly PodView[], { operation, takenAt }: DrainStep): void {
    const needs = new Map<string, number>()
    for (const view of views) {
      if (view.budgets.length === 0 || this.#requests.isUnderWay(view.pod)) continue
      const { refusal } = view
      // Refused for its budget's sake it still waits for just that.
      const other = refusal?.code === 'PodDisruptionBudget' ? undefined : refusal
      const verdict = judgePod({ ...view, refusal: other, allowance: () => ({ left: 1 }) }, operation.drain)
      if (verdict.action !== 'evict' || verdict.budgetUID === undefined) continue
      needs.set(verdict.budgetUID, (needs.get(verdict.budgetUID) ?? 0) + 1)
    }
    this.#tools.budgets.claim(this.#node, takenAt, needs)
  }

  #remember(held: ReadonlySet<PodDisruptionBudget>): void {
    const nowMs = this.#tools.ports.clock.monotonicMs()
    this.#held = new Map(
      [...held].map((budget) => {
        const { uid } = budget.metadata
        return [uid, { budget, sinceMs: this.#held.get(uid)?.sinceMs ?? nowMs }]
      }),
    )
  }

  async #lookAtKeepers(signal: AbortSignal): Promise<void> {
    const nowMs = this.#tools.ports.clock.monotonicMs()
    for (const { budget, sinceMs } of this.#held.values()) {
      if (nowMs - sinceMs >= keeperAfterMs) await this.#tools.keepers.look(budget, signal)
    }
  }

  /** The operator's own pods go last: the leader hands over first, and whoever leads then moves the rest. */
  async #moveOperator(own: readonly Pod[], signal: AbortSignal): Promise<readonly Pod[]> {
    const { ownPods } = this.#tools
    if (own.some((pod) => ownPods.isSelf(pod)) && ownPods.replicaElsewhere(this.#node)) {
      await ownPods.handOver()
      return []
    }
    await Promise.all(own.map((pod) => this.#requests.send(pod, { action: 'evict' }, signal)))
    return own
  }
}

function textOf(failure: unknown): string {
  return failure instanceof Error ? failure.message : String(failure)
}

function entryOf(
  pod: Pod,
  verdict: Extract<PodJudgement, { action: 'wait' | 'force' }>,
  now: Date,
): DrainReport['blocked'][number] {
  const nextMs = verdict.action === 'wait' ? (verdict.nextMs ?? 0) : 0
  const next = Number.isFinite(nextMs) && nextMs > now.getTime() ? { nextCheck: new Date(nextMs).toISOString() } : {}
  return { pod: podName(pod), state: verdict.state, reason: { ...verdict.reason, ...next } }
}
