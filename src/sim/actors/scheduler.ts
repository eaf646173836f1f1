import {
  type Condition,
  type KubeObject,
  type Node,
  nodes as nodeType,
  type Pod,
  pods as podType,
  type ResourceType,
} from '../../api/kube.ts'
import { isKubeError } from '../../api/kube-error.ts'
import type { CancelTimer } from '../../ports/clock.ts'
import { type ActorContext, controllerOf, hasEnded, isReady } from './actor.ts'
import { keyOf } from './following.ts'
import { LoadBuckets } from './load-buckets.ts'
import { mismatch } from './placement.ts'
import { Room } from './room.ts'
import { toleratesCordon } from './tolerations.ts'
import { hasTopology, Topology } from './topology.ts'

interface Binding extends KubeObject {
  readonly target: { readonly apiVersion: string; readonly kind: string; readonly name: string }
}

/** Written to bind a pod to a node; never read. */
const bindings: ResourceType<Binding> = {
  apiVersion: 'v1',
  kind: 'Binding',
  plural: 'bindings',
  namespaced: true,
}

const candidates = 16
const retryMs = 1000

/**
 * Puts each pod without a node on the emptiest node that fits, away from its siblings. What it honours: requests, node
 * selector, taints, and what is required of affinity, anti-affinity and spread. What it does not: preferences, priority
 * (nobody is pushed out for another), host ports, and where volumes are.
 */
export function startScheduler(context: ActorContext): void {
  const { api, clock, random, signal } = context
  const nodes = context.following(nodeType)
  const pods = context.following(podType)
  const open = new LoadBuckets(random)
  /** Ready, and for those only who tolerate a cordon. */
  const cordoned = new Set<string>()
  const room = new Room()
  const topology = new Topology(nodes)
  const siblings = new Map<string, Map<string, number>>()
  /** Where we sent pods whose binding we have not seen yet. */
  const assumed = new Map<string, string>()
  let waiting = new Map<string, Pod>()
  /** Told already that no node fits. */
  const told = new Set<string>()
  /** Nodes that have opened or lost a pod since we last looked: only there has a pod that fitted nowhere a chance. */
  let changed = new Set<string>()
  let wake: { readonly atMs: number; readonly cancel: CancelTimer } | undefined

  nodes.subscribe((after, before) => {
    const node = after ?? before
    if (node === undefined) return
    const { name } = node.metadata
    if (after?.metadata.labels !== before?.metadata.labels) topology.forgetDomains()
    if (after?.spec.unschedulable === true && isReady(after)) cordoned.add(name)
    else cordoned.delete(name)
    if (after === undefined || after.spec.unschedulable === true || !isReady(after)) open.remove(name)
    else {
      const isNews = !open.has(name) || (waiting.size > 0 && !sameLabels(after, before))
      if (isNews) {
        changed.add(name)
        wakeSoon(0)
      }
      open.set(name, room.podsOn(name))
    }
  })
  pods.subscribe((after, before, key) => {
    const was = before === undefined ? undefined : placeOf(before)
    const is = after === undefined ? undefined : placeOf(after)
    const pod = after ?? before
    if (pod === undefined) return
    const guess = assumed.get(pod.metadata.uid)
    if (guess !== undefined && (after === undefined || after.spec.nodeName)) {
      assumed.delete(pod.metadata.uid)
      count(pod, guess, -1)
    }
    if (was !== is) {
      if (was !== undefined) count(pod, was, -1)
      if (is !== undefined) count(pod, is, 1)
    }
    if (after !== undefined && needsPlace(after)) {
      waiting.set(key, after)
      wakeSoon(0)
    } else waiting.delete(key)
    if (after === undefined) told.delete(pod.metadata.uid)
    if (was !== undefined && is === undefined) {
      changed.add(was)
      if (waiting.size > 0) wakeSoon(10)
    }
  })

  function count(pod: Pod, node: string, by: 1 | -1): void {
    room.count(pod, node, by)
    topology.count(pod, node, by)
    if (open.has(node)) open.set(node, room.podsOn(node))
    const owner = controllerOf(pod)?.uid
    if (owner === undefined) return
    let places = siblings.get(owner)
    if (places === undefined) {
      places = new Map()
      siblings.set(owner, places)
    }
    const left = (places.get(node) ?? 0) + by
    if (left > 0) places.set(node, left)
    else places.delete(node)
    if (places.size === 0) siblings.delete(owner)
  }

  function wakeSoon(ms: number): void {
    const atMs = clock.monotonicMs() + ms
    if (wake !== undefined && wake.atMs <= atMs) return
    wake?.cancel()
    const cancel = clock.after(ms, () => {
      wake = undefined
      if (!signal.aborted) placeAll()
    })
    wake = { atMs, cancel }
  }

  function placeAll(): void {
    const batch = inTurn()
    waiting = new Map()
    /** Of siblings the first speaks for all: what did not fit him fits none of them now. */
    const refused = new Set<string>()
    const news = changed
    changed = new Set()
    for (const [key, pod] of batch) {
      const owner = controllerOf(pod)?.uid
      const node = owner !== undefined && refused.has(owner) ? undefined : choose(pod, news)
      if (node === undefined) {
        waiting.set(key, pod)
        if (owner !== undefined) refused.add(owner)
        if (!told.has(pod.metadata.uid)) void tell(pod)
        continue
      }
      assumed.set(pod.metadata.uid, node)
      count(pod, node, 1)
      void bind(pod, node)
    }
  }

  /** First come, first served; but who found no node before waits out its own pause, and which of those ends first is chance. */
  function inTurn(): readonly (readonly [string, Pod])[] {
    const batch = [...waiting]
    if (!batch.some(([, { metadata }]) => told.has(metadata.uid))) return batch
    const drawn = batch.map((entry) => ({ entry, at: random.next() }))
    return drawn.sort((a, b) => a.at - b.at).map(({ entry }) => entry)
  }

  function choose(pod: Pod, news: ReadonlySet<string>): string | undefined {
    const fits = (name: string): boolean => {
      const node = nodes.get(name)
      return node !== undefined && obstacle(pod, node) === undefined
    }
    const isKnown = told.has(pod.metadata.uid) && !hasTopology(pod)
    const found = isKnown ? [...news].filter(fits) : withCordoned(pod, open.emptiest(candidates, fits), fits)
    const owner = controllerOf(pod)?.uid
    const places = owner === undefined ? undefined : siblings.get(owner)
    let best: string | undefined
    let fewest = Number.POSITIVE_INFINITY
    for (const name of found) {
      const here = places?.get(name) ?? 0
      if (here >= fewest) continue
      best = name
      fewest = here
    }
    return best
  }

  /** A node that was just emptied is the emptiest of all: whoever tolerates its cordon comes back to it. */
  function withCordoned({ spec }: Pod, found: readonly string[], fits: (node: string) => boolean): readonly string[] {
    if (cordoned.size === 0 || !toleratesCordon(spec.tolerations)) return found
    return [...found, ...[...cordoned].filter(fits)].sort((a, b) => room.podsOn(a) - room.podsOn(b))
  }

  function obstacle(pod: Pod, node: Node): string | undefined {
    if (node.metadata.deletionTimestamp !== undefined) return 'were going away'
    if (node.spec.unschedulable === true && !toleratesCordon(pod.spec.tolerations)) return 'were unschedulable'
    if (!isReady(node)) return 'were not ready'
    const off = mismatch(pod, node)
    if (off !== undefined) return off
    const short = room.shortOf(pod, node)
    return short === undefined ? topology.conflict(pod, node) : `had too little ${short}`
  }

  /** Says once of a pod that no node fits, and why none does. */
  async function tell(pod: Pod): Promise<void> {
    const { name, namespace = '', uid } = pod.metadata
    told.add(uid)
    const counts = new Map<string, number>()
    let total = 0
    for (const node of nodes.values()) {
      total++
      const why = obstacle(pod, node) ?? 'fitted only before its siblings'
      counts.set(why, (counts.get(why) ?? 0) + 1)
    }
    const parts = [...counts].sort(([, a], [, b]) => b - a).map(([why, count]) => `${count} ${why}`)
    const condition: Condition = {
      type: 'PodScheduled',
      status: 'False',
      reason: 'Unschedulable',
      message: `0/${total} nodes are available: ${parts.join(', ')}`,
      lastTransitionTime: clock.now().toISOString(),
    }
    const body = { metadata: { uid }, status: { conditions: [condition] } }
    try {
      await api.patch(podType, { name, namespace }, { type: 'merge', body }, signal, 'status')
    } catch (error) {
      if (signal.aborted || isKubeError(error)) told.delete(uid)
      else context.failed(error)
    }
  }

  async function bind(pod: Pod, node: string): Promise<void> {
    const { name, namespace, uid } = pod.metadata
    try {
      await api.create(
        bindings,
        {
          metadata: { name, ...(namespace === undefined ? {} : { namespace }), uid },
          target: { apiVersion: 'v1', kind: 'Node', name: node },
        },
        signal,
      )
    } catch (error) {
      if (signal.aborted) return
      if (!isKubeError(error)) {
        context.failed(error)
        return
      }
      if (assumed.delete(uid)) count(pod, node, -1)
      clock.after(retryMs, () => again(pod))
    }
  }

  function again(pod: Pod): void {
    const now = pods.get(keyOf(pod))
    if (now?.metadata.uid !== pod.metadata.uid || !needsPlace(now)) return
    waiting.set(keyOf(now), now)
    wakeSoon(0)
  }

  function needsPlace(pod: Pod): boolean {
    if (pod.spec.nodeName || pod.metadata.deletionTimestamp !== undefined || hasEnded(pod)) return false
    return !assumed.has(pod.metadata.uid)
  }
}

function placeOf(pod: Pod): string | undefined {
  return pod.spec.nodeName && !hasEnded(pod) ? pod.spec.nodeName : undefined
}

function sameLabels(a: Node, b: Node | undefined): boolean {
  return JSON.stringify(a.metadata.labels) === JSON.stringify(b?.metadata.labels)
}
