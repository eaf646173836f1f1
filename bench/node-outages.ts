// When each node was taken and put back, and what happened to it between, as somebody outside sees it on the API.

import { type Node, nodes, type Pod, pods } from '../src/api/kube.ts'
import { type NodeState, nodeStates } from '../src/api/node-state.ts'
import type { Bed } from './bed.ts'

export interface Outage {
  readonly node: string
  readonly cordonedMs: number
  readonly uncordonedMs: number
  /** The drain: the first eviction asked for, and the last pod gone. */
  readonly firstAskedMs: number
  readonly lastGoneMs: number
  /** The work order written, and the agent's last word on it. */
  readonly orderedMs: number
  readonly reportedMs: number
}

interface Open {
  readonly cordonedMs: number
  readonly leaving: Set<string>
  lastGoneMs?: number
  orderedMs?: number
  reportedMs?: number
  uncordonedMs?: number
}

export class NodeOutages {
  readonly #outages = new Map<string, Open>()

  static async watch(bed: Bed, signal: AbortSignal): Promise<NodeOutages> {
    const outages = new NodeOutages()
    const [nodeStore, podStore, stateStore] = await Promise.all([
      bed.follow(nodes, {}, signal),
      bed.follow(pods, {}, signal),
      bed.follow(nodeStates, {}, signal),
    ])
    stateStore.subscribe(({ object }) => outages.#seeState(object, nowMs()))
    nodeStore.subscribe(({ object }) => outages.#seeNode(object, nowMs()))
    podStore.subscribe(({ type, object }) => outages.#seePod(object, type === 'removed', nowMs()))
    return outages
  }

  /** Those that are over, in the order in which they began; `askedMs` says when a pod's eviction was asked for. */
  ended(askedMs: ReadonlyMap<string, number>): readonly Outage[] {
    return [...this.#outages].flatMap(([node, open]) => {
      const { cordonedMs, uncordonedMs, orderedMs, reportedMs } = open
      if (uncordonedMs === undefined || orderedMs === undefined || reportedMs === undefined) return []
      const asked = [...open.leaving].flatMap((pod) => askedMs.get(pod) ?? [])
      const firstAskedMs = asked.length > 0 ? Math.min(...asked) : cordonedMs
      const { lastGoneMs = firstAskedMs } = open
      return [{ node, cordonedMs, firstAskedMs, lastGoneMs, orderedMs, reportedMs, uncordonedMs }]
    })
  }

  #seeNode({ metadata, spec }: Node, atMs: number): void {
    const open = this.#outages.get(metadata.name)
    if (spec.unschedulable && !open) this.#outages.set(metadata.name, { cordonedMs: atMs, leaving: new Set() })
    else if (!spec.unschedulable && open) open.uncordonedMs ??= atMs
  }

  #seePod({ metadata, spec }: Pod, gone: boolean, atMs: number): void {
    const open = this.#outages.get(spec.nodeName ?? '')
    if (!open || open.uncordonedMs !== undefined) return
    if (metadata.deletionTimestamp !== undefined) open.leaving.add(`${metadata.namespace}/${metadata.name}`)
    if (gone) open.lastGoneMs = atMs
  }

  #seeState({ metadata, spec, status }: NodeState, atMs: number): void {
    const open = this.#outages.get(metadata.name)
    if (!open) return
    if (spec.order !== undefined) open.orderedMs ??= atMs
    if (status?.agent?.order?.state === 'Succeeded') open.reportedMs ??= atMs
  }
}

/** Comparable with the server's own instants. */
function nowMs(): number {
  return performance.timeOrigin + performance.now()
}

/** Seconds from each return of a slot to the taking of the next node; the first takings found all slots free. */
export function slotWaits(outages: readonly Outage[], slots: number): readonly number[] {
  const freed = outages.map(({ uncordonedMs }) => uncordonedMs).toSorted((a, b) => a - b)
  const taken = outages.map(({ cordonedMs }) => cordonedMs).toSorted((a, b) => a - b)
  return taken.slice(slots).map((takenMs, index) => (takenMs - (freed[index] ?? takenMs)) / 1000)
}

/** The most nodes that were away at the same moment. */
export function mostAway(outages: readonly Outage[]): number {
  const steps = outages.flatMap(({ cordonedMs, uncordonedMs }) => [
    { atMs: cordonedMs, change: 1 },
    { atMs: uncordonedMs, change: -1 },
  ])
  let away = 0
  let most = 0
  for (const { change } of steps.toSorted((a, b) => a.atMs - b.atMs || a.change - b.change)) {
    away += change
    most = Math.max(most, away)
  }
  return most
}
