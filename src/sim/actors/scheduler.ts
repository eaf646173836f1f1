import {
  type KubeObject,
  type Node,
  nodes as nodeType,
  type Pod,
  pods as podType,
  type ResourceType,
} from '../../api/kube.ts'
import { isKubeError } from '../../api/kube-error.ts'
import { type ActorContext, controllerOf, hasEnded, isReady } from './actor.ts'
import { keyOf } from './following.ts'
import { LoadBuckets } from './load-buckets.ts'
import { toleratesAll } from './tolerations.ts'

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
const defaultCapacity = 110
const retryMs = 1000

/** Puts each pod without a node on the emptiest node that fits, away from its siblings. */
export function startScheduler(context: ActorContext): void {
  const { api, clock, signal } = context
  const nodes = context.following(nodeType)
  const pods = context.following(podType)
  const open = new LoadBuckets(context.random)
  const loads = new Map<string, number>()
  const siblings = new Map<string, Map<string, number>>()
  /** Where we sent pods whose binding we have not seen yet. */
  const assumed = new Map<string, string>()
  let waiting = new Map<string, Pod>()
  let scheduled = false

  nodes.subscribe((after, before) => {
    const node = after ?? before
    if (node === undefined) return
    const { name } = node.metadata
    if (after === undefined || after.spec.unschedulable === true || !isReady(after)) open.remove(name)
    else {
      const isNews = !open.has(name) || (waiting.size > 0 && !sameLabels(after, before))
      if (isNews) wakeSoon(0)
      open.set(name, loads.get(name) ?? 0)
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
    if (was !== undefined && is === undefined && waiting.size > 0) wakeSoon(10)
  })

  function count(pod: Pod, node: string, by: 1 | -1): void {
    const load = (loads.get(node) ?? 0) + by
    loads.set(node, load)
    if (open.has(node)) open.set(node, load)
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
    if (scheduled) return
    scheduled = true
    clock.after(ms, () => {
      scheduled = false
      if (!signal.aborted) placeAll()
    })
  }

  function placeAll(): void {
    const batch = waiting
    waiting = new Map()
    for (const [key, pod] of batch) {
      const node = choose(pod)
      if (node === undefined) {
        waiting.set(key, pod)
        continue
      }
      assumed.set(pod.metadata.uid, node)
      count(pod, node, 1)
      void bind(pod, node)
    }
  }

  function choose(pod: Pod): string | undefined {
    const found = open.emptiest(candidates, (name) => fits(pod, nodes.get(name), loads.get(name) ?? 0))
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

function fits(pod: Pod, node: Node | undefined, load: number): boolean {
  if (node === undefined || node.metadata.deletionTimestamp !== undefined) return false
  const capacity = Number(node.status?.allocatable?.pods ?? defaultCapacity)
  if (load >= capacity) return false
  const { nodeSelector, tolerations } = pod.spec
  for (const key in nodeSelector) if (node.metadata.labels?.[key] !== nodeSelector[key]) return false
  return toleratesAll(tolerations, node.spec.taints)
}

function sameLabels(a: Node, b: Node | undefined): boolean {
  return JSON.stringify(a.metadata.labels) === JSON.stringify(b?.metadata.labels)
}
