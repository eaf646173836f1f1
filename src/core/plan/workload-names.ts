import type { Pod, ReplicaSet } from '../../api/kube.ts'

/** What a person calls the workload of a pod: that of a ReplicaSet is its Deployment. Undefined where nothing controls it. */
export function workloadNames(replicaSets: readonly ReplicaSet[]): (pod: Pick<Pod, 'metadata'>) => string | undefined {
  const parents = new Map<string, string>()
  for (const { metadata } of replicaSets) {
    const owner = metadata.ownerReferences?.find(({ controller }) => controller)
    if (owner) parents.set(metadata.uid, `${owner.kind} ${metadata.namespace}/${owner.name}`)
  }
  return ({ metadata }) => {
    const owner = metadata.ownerReferences?.find(({ controller }) => controller)
    if (!owner) return undefined
    return parents.get(owner.uid) ?? `${owner.kind} ${metadata.namespace}/${owner.name}`
  }
}
