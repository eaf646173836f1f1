// Pods that look for a node while an update is rehearsed, and what it means for others that they find none.

import type { Pod } from '../../api/kube.ts'
import type { Blocker } from '../../core/plan/blocker.ts'
import type { PlanRun, TakenNode } from '../../core/plan/plan-report.ts'

/** A pod without a node for so long is worth a word; a node's way back takes longer. */
const unplacedMs = 60_000
/** By then a pod that gets the room of a node which came back has it. */
const roomIsTakenMs = 2_000

export interface PendingView {
  readonly clock: { monotonicMs(): number }
  readonly workloadOf: (pod: Pod) => string | undefined
  /** What holds up its siblings until it has a node, and where they are. */
  readonly shortOf: (pod: Pod) => Shortage | undefined
}

export interface Shortage {
  readonly blocker: Blocker
  readonly nodes: ReadonlySet<string>
}

interface Pending {
  readonly pod: Pod
  readonly sinceMs: number
  /** When the first node came back that it could have gone to. */
  readonly returnMs?: number
}

export class PendingPods {
  readonly #view: PendingView
  readonly #pending = new Map<string, Pending>()
  /** Of pods that found no node although one came back, and when that was. */
  readonly #passedOver: (Shortage & { readonly atMs: number })[] = []
  readonly #unplaced = new Map<string, { uids: Set<string>; message: string }>()

  constructor(view: PendingView) {
    this.#view = view
  }

  note(before: Pod | undefined, after: Pod | undefined, timeMs: number): void {
    const uid = (after ?? before)?.metadata.uid ?? ''
    const known = this.#pending.get(uid)
    if (after && after.spec.nodeName === undefined && after.metadata.deletionTimestamp === undefined) {
      if (known) this.#pending.set(uid, { ...known, pod: after })
      else if (!before) this.#pending.set(uid, { pod: after, sinceMs: timeMs })
    } else if (known) {
      this.#judge(known)
      this.#pending.delete(uid)
    }
  }

  nodeIsBack(timeMs: number): void {
    for (const [uid, pending] of this.#pending) this.#pending.set(uid, { returnMs: timeMs, ...pending })
  }

  end(taken: readonly TakenNode[]): Pick<PlanRun, 'near' | 'unplaced'> {
    for (const pending of this.#pending.values()) this.#judge(pending)
    // Only where siblings were drained after that could it have held anything up.
    const passedOver = this.#passedOver.filter(({ nodes, atMs: backMs }) =>
      taken.some(({ name, atMs }) => atMs > backMs && nodes.has(name)),
    )
    return {
      near: passedOver.map(({ blocker }) => blocker),
      unplaced: new Map([...this.#unplaced].map(([key, { uids, message }]) => [key, { pods: uids.size, message }])),
    }
  }

  /** One that left a drained node mostly finds its place when that is back, before siblings elsewhere are asked to go. */
  #judge({ pod, sinceMs, returnMs = Number.POSITIVE_INFINITY }: Pending): void {
    const nowMs = this.#view.clock.monotonicMs()
    const short = nowMs - returnMs >= roomIsTakenMs ? this.#view.shortOf(pod) : undefined
    if (short) this.#passedOver.push({ ...short, atMs: returnMs })
    if (nowMs - sinceMs < unplacedMs) return
    const { name, namespace = '', uid } = pod.metadata
    const key = this.#view.workloadOf(pod) ?? `Pod ${namespace}/${name}`
    const known = this.#unplaced.get(key) ?? { uids: new Set<string>(), message: whyUnplaced(pod) }
    known.uids.add(uid)
    this.#unplaced.set(key, known)
  }
}

export function whyUnplaced({ status }: Pod): string {
  return status?.conditions?.find(({ type }) => type === 'PodScheduled')?.message ?? 'no node took it'
}
