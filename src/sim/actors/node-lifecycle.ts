import {
  leases as leaseType,
  type Node,
  nodes as nodeType,
  type Pod,
  pods as podType,
  type Taint,
} from '../../api/kube.ts'
import { isKubeError } from '../../api/kube-error.ts'
import { type ActorContext, hasEnded, isReady } from './actor.ts'
import { KeyedWork } from './keyed-work.ts'
import { tolerates } from './tolerations.ts'

const lookEveryMs = 5000
const graceMs = 40_000
/** What pods tolerate by default before they are taken off a node that is away. */
const defaultTolerationMs = 300_000

const unreachable = 'node.kubernetes.io/unreachable'
const notReady = 'node.kubernetes.io/not-ready'

/** Judges nodes by their leases, taints those that are away, takes their pods off, and buries pods of nodes that are gone. */
export function startNodeLifecycle(context: ActorContext): void {
  const { api, clock, signal } = context
  const nodes = context.following(nodeType)
  const pods = context.following(podType)
  const leases = context.following(leaseType)
  const podsOf = new Map<string, Map<string, Pod>>()
  /** When a node's lease was last seen to change, by our own clock. */
  const renewed = new Map<string, number>()
  const awaySince = new Map<string, number>()
  const work = new KeyedWork({ ...context, delayMs: 0, work: judge, failed: context.failed })
  const burials = new KeyedWork({ ...context, delayMs: 1000, work: bury, failed: context.failed })

  leases.subscribe((after) => {
    if (after?.metadata.namespace !== 'kube-node-lease') return
    const { name } = after.metadata
    renewed.set(name, clock.monotonicMs())
    if (awaySince.has(name)) work.mark(name)
  })
  nodes.subscribe((after, before) => {
    const name = (after ?? before)?.metadata.name
    if (name === undefined) return
    if (after === undefined) {
      renewed.delete(name)
      awaySince.delete(name)
      burials.mark(name)
    } else {
      if (!renewed.has(name)) renewed.set(name, clock.monotonicMs())
      if (after.spec.taints?.some(isOurs) || !isReady(after)) work.mark(name)
    }
  })
  pods.subscribe((after, before) => {
    const pod = after ?? before
    const place = pod?.spec.nodeName
    if (pod === undefined || !place) return
    let here = podsOf.get(place)
    if (here === undefined) {
      here = new Map()
      podsOf.set(place, here)
    }
    if (after === undefined) here.delete(pod.metadata.uid)
    else here.set(pod.metadata.uid, after)
    if (here.size === 0) podsOf.delete(place)
    if (after !== undefined && before === undefined && nodes.get(place) === undefined) burials.mark(place)
  })
  look()

  function look(): void {
    if (signal.aborted) return
    const nowMs = clock.monotonicMs()
    for (const [name, atMs] of renewed) if (nowMs - atMs > graceMs) work.mark(name)
    clock.after(lookEveryMs, look)
  }

  async function judge(name: string): Promise<void> {
    const node = nodes.get(name)
    if (node === undefined) return
    const nowMs = clock.monotonicMs()
    const away = nowMs - (renewed.get(name) ?? nowMs) > graceMs
    if (!away) {
      awaySince.delete(name)
      await taint(node, isReady(node) ? undefined : notReady)
      return
    }
    if (!awaySince.has(name)) awaySince.set(name, nowMs)
    const ready = node.status?.conditions?.find(({ type }) => type === 'Ready')
    if (ready?.status !== 'Unknown') await markUnknown(node)
    await taint(node, unreachable)
    await takePodsOff(node, nowMs - (awaySince.get(name) ?? nowMs))
  }

  async function markUnknown(node: Node): Promise<void> {
    const now = clock.now().toISOString()
    const others = node.status?.conditions?.filter(({ type }) => type !== 'Ready') ?? []
    const ready = node.status?.conditions?.find(({ type }) => type === 'Ready')
    const conditions = [
      ...others,
      {
        ...ready,
        type: 'Ready',
        status: 'Unknown',
        reason: 'NodeStatusUnknown',
        message: 'Kubelet stopped posting node status.',
        lastTransitionTime: now,
      },
    ]
    const body = { metadata: { resourceVersion: node.metadata.resourceVersion }, status: { conditions } }
    nodes.learn(await api.patch(nodeType, node.metadata, { type: 'merge', body }, signal, 'status'))
  }

  async function taint(node: Node, key: string | undefined): Promise<void> {
    const present = node.spec.taints ?? []
    const wanted: Taint[] = present.filter((one) => !isOurs(one))
    if (key !== undefined) wanted.push({ key, effect: 'NoSchedule' }, { key, effect: 'NoExecute' })
    if (wanted.length === present.length && wanted.every((one) => present.some((two) => same(one, two)))) return
    const body = {
      metadata: { resourceVersion: nodes.get(node.metadata.name)?.metadata.resourceVersion },
      spec: { taints: wanted.length === 0 ? null : wanted },
    }
    nodes.learn(await api.patch(nodeType, node.metadata, { type: 'merge', body }, signal))
  }

  async function takePodsOff(node: Node, awayMs: number): Promise<void> {
    for (const pod of [...(podsOf.get(node.metadata.name)?.values() ?? [])]) {
      if (pod.metadata.deletionTimestamp !== undefined || hasEnded(pod)) continue
      const match = pod.spec.tolerations?.find((one) => tolerates(one, { key: unreachable, effect: 'NoExecute' }))
      const patienceMs = match === undefined ? defaultTolerationMs : (match.tolerationSeconds ?? Infinity) * 1000
      if (awayMs >= patienceMs) await remove(pod, {})
    }
  }

  async function bury(name: string): Promise<void> {
    if (nodes.get(name) !== undefined) return
    for (const pod of [...(podsOf.get(name)?.values() ?? [])]) await remove(pod, { gracePeriodSeconds: 0 })
  }

  async function remove(pod: Pod, options: { readonly gracePeriodSeconds?: number }): Promise<void> {
    const { name, namespace = '', uid } = pod.metadata
    try {
      await api.delete(podType, { name, namespace }, { ...options, uid }, signal)
    } catch (error) {
      if (!isKubeError(error, 'NotFound', 'Conflict')) throw error
    }
  }
}

function isOurs(taint: Taint): boolean {
  return taint.key === unreachable || taint.key === notReady
}

function same(a: Taint, b: Taint): boolean {
  return a.key === b.key && a.effect === b.effect && a.value === b.value
}
