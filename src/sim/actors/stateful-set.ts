import { type StatefulSet, statefulSets as statefulSetType } from '../../api/kube.ts'
import { isKubeError } from '../../api/kube-error.ts'
import { type ActorContext, hasEnded, isReady, ownedBy } from './actor.ts'
import { keyOf } from './following.ts'
import { KeyedWork } from './keyed-work.ts'
import { OwnedPods } from './owned-pods.ts'
import { reportCounts } from './status-report.ts'

/** Numbered pods, made and removed one at a time, each only when those before it are ready. */
export function startStatefulSets(context: ActorContext): void {
  const sets = context.following(statefulSetType)
  const work = new KeyedWork({ ...context, delayMs: 5, work: reconcile, failed: context.failed })
  const pods = new OwnedPods(context, statefulSetType.kind, (key) => work.mark(key))
  sets.subscribe((after) => after && work.mark(keyOf(after)))

  async function reconcile(key: string): Promise<void> {
    const set = sets.get(key)
    if (set === undefined || set.metadata.deletionTimestamp !== undefined) return
    await step(set)
    const { active, ready } = pods.tally(set.metadata.uid)
    await reportCounts(context, statefulSetType, set, { replicas: active, readyReplicas: ready })
  }

  async function step(set: StatefulSet): Promise<void> {
    const { name, namespace } = set.metadata
    const wanted = set.spec.replicas ?? 1
    const byName = new Map(pods.of(set.metadata.uid).map((pod) => [pod.metadata.name, pod]))
    for (let ordinal = 0; ordinal < wanted; ordinal++) {
      const podName = `${name}-${ordinal}`
      const pod = byName.get(podName)
      byName.delete(podName)
      if (pod === undefined) {
        await create(set, podName, namespace)
        return
      }
      if (pods.isLeaving(pod)) return
      if (hasEnded(pod)) {
        await pods.delete(pod)
        return
      }
      if (!isReady(pod)) return
    }
    const surplus = [...byName.values()].filter((pod) => !pods.isLeaving(pod)).sort(byOrdinalDown)
    const [last] = surplus
    if (last !== undefined && surplus.length === byName.size) await pods.delete(last)
  }

  async function create(set: StatefulSet, name: string, namespace: string | undefined): Promise<void> {
    const metadata = {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ownerReferences: ownedBy(set, statefulSetType),
    }
    try {
      await pods.create(metadata, set.spec.template)
    } catch (error) {
      // The pod before this one has gone by its own account only when its deletion arrives: then we look again.
      if (!isKubeError(error, 'AlreadyExists')) throw error
    }
  }
}

function byOrdinalDown(a: { metadata: { name: string } }, b: { metadata: { name: string } }): number {
  return ordinal(b.metadata.name) - ordinal(a.metadata.name)
}

function ordinal(name: string): number {
  return Number(name.slice(name.lastIndexOf('-') + 1))
}
