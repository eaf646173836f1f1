import { type Pod, type ReplicaSet, replicaSets as replicaSetType } from '../../api/kube.ts'
import { type ActorContext, isReady, ownedBy } from './actor.ts'
import { keyOf } from './following.ts'
import { KeyedWork } from './keyed-work.ts'
import { allDone, OwnedPods } from './owned-pods.ts'
import { reportCounts } from './status-report.ts'

/** Keeps as many pods of each ReplicaSet as it asks for. */
export function startReplicaSets(context: ActorContext): void {
  const replicaSets = context.following(replicaSetType)
  const work = new KeyedWork({ ...context, delayMs: 5, work: reconcile, failed: context.failed })
  const reports = new KeyedWork({ ...context, delayMs: 1000, work: reportLater, failed: context.failed })
  const pods = new OwnedPods(context, replicaSetType.kind, (key, what) => (what === 'pods' ? work : reports).mark(key))
  replicaSets.subscribe((after, before) => {
    if (after !== undefined && after.metadata.generation !== before?.metadata.generation) work.mark(keyOf(after))
  })

  async function reconcile(key: string): Promise<void> {
    const replicaSet = replicaSets.get(key)
    if (replicaSet === undefined || replicaSet.metadata.deletionTimestamp !== undefined) return
    await scale(replicaSet)
    reports.mark(key)
  }

  async function reportLater(key: string): Promise<void> {
    const replicaSet = replicaSets.get(key)
    if (replicaSet === undefined) return
    const { active, ready } = pods.tally(replicaSet.metadata.uid)
    await reportCounts(context, replicaSetType, replicaSet, { replicas: active, readyReplicas: ready })
  }

  async function scale(replicaSet: ReplicaSet): Promise<void> {
    const { name, namespace, uid } = replicaSet.metadata
    const { template } = replicaSet.spec
    const wanted = replicaSet.spec.replicas ?? 1
    const { active } = pods.tally(uid)
    if (template === undefined) return
    if (active < wanted) {
      const metadata = {
        generateName: `${name}-`,
        ...(namespace === undefined ? {} : { namespace }),
        ownerReferences: ownedBy(replicaSet, replicaSetType),
      }
      await allDone(Array.from({ length: wanted - active }, () => pods.create(metadata, template)))
    } else if (active > wanted) {
      const surplus = [...pods.active(uid)].sort(byWorth).slice(0, active - wanted)
      await allDone(surplus.map((pod) => pods.delete(pod)))
    }
  }
}

/** What runs nowhere or is not ready goes first, then the youngest. */
function byWorth(a: Pod, b: Pod): number {
  return worth(a) - worth(b) || (a.metadata.creationTimestamp > b.metadata.creationTimestamp ? -1 : 1)
}

function worth(pod: Pod): number {
  return (pod.spec.nodeName ? 1 : 0) + (isReady(pod) ? 1 : 0)
}
