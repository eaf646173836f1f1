import { type DaemonSet, daemonSets as daemonSetType, type Node, nodes as nodeType, type Pod } from '../../api/kube.ts'
import { type ActorContext, hasEnded, isReady, ownedBy } from './actor.ts'
import { keyOf } from './following.ts'
import { KeyedWork } from './keyed-work.ts'
import { allDone, OwnedPods } from './owned-pods.ts'
import { isWanted } from './placement.ts'
import { reportCounts } from './status-report.ts'
import { daemonTolerations, toleratesAll } from './tolerations.ts'

/** One pod on every node that fits, cordoned or not. */
export function startDaemonSets(context: ActorContext): void {
  const daemonSets = context.following(daemonSetType)
  const nodes = context.following(nodeType)
  const work = new KeyedWork({ ...context, delayMs: 20, work: reconcile, failed: context.failed })
  const pods = new OwnedPods(context, daemonSetType.kind, (key) => work.mark(key))
  daemonSets.subscribe((after) => after && work.mark(keyOf(after)))
  nodes.subscribe((after, before) => {
    if (after !== undefined && before !== undefined && !fitChanged(after, before)) return
    for (const daemonSet of daemonSets.values()) work.mark(keyOf(daemonSet))
  })

  async function reconcile(key: string): Promise<void> {
    const daemonSet = daemonSets.get(key)
    if (daemonSet === undefined || daemonSet.metadata.deletionTimestamp !== undefined) return
    const { template } = daemonSet.spec
    const tolerations = [...(template.spec.tolerations ?? []), ...daemonTolerations]
    const missing = new Set<string>()
    for (const node of nodes.values()) if (fits(daemonSet, node, tolerations)) missing.add(node.metadata.name)
    const wanted = missing.size
    const surplus: Pod[] = []
    let ready = 0
    for (const pod of pods.of(daemonSet.metadata.uid)) {
      const place = pod.spec.nodeName ?? ''
      const keep = missing.has(place) && !hasEnded(pod)
      if (pods.isLeaving(pod)) missing.delete(place)
      else if (keep) {
        missing.delete(place)
        if (isReady(pod)) ready++
      } else surplus.push(pod)
    }
    const { name, namespace } = daemonSet.metadata
    const metadata = {
      generateName: `${name}-`,
      ...(namespace === undefined ? {} : { namespace }),
      ownerReferences: ownedBy(daemonSet, daemonSetType),
    }
    await allDone([
      ...[...missing].map((nodeName) => pods.create(metadata, template, { nodeName, tolerations })),
      ...surplus.map((pod) => pods.delete(pod)),
    ])
    await reportCounts(context, daemonSetType, daemonSet, {
      currentNumberScheduled: wanted - missing.size,
      desiredNumberScheduled: wanted,
      numberMisscheduled: 0,
      numberReady: ready,
    })
  }
}

function fits(daemonSet: DaemonSet, node: Node, tolerations: Pod['spec']['tolerations']): boolean {
  return isWanted(daemonSet.spec.template, node) && toleratesAll(tolerations, node.spec.taints)
}

function fitChanged(after: Node, before: Node): boolean {
  return (
    after.metadata.uid !== before.metadata.uid ||
    JSON.stringify(after.spec.taints) !== JSON.stringify(before.spec.taints) ||
    JSON.stringify(after.metadata.labels) !== JSON.stringify(before.metadata.labels)
  )
}
