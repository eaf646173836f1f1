import {
  type Deployment,
  deployments as deploymentType,
  type ReplicaSet,
  replicaSets as replicaSetType,
} from '../../api/kube.ts'
import { isKubeError } from '../../api/kube-error.ts'
import { type ActorContext, controllerOf, ownedBy } from './actor.ts'
import { keyOf } from './following.ts'
import { KeyedWork } from './keyed-work.ts'
import { reportCounts } from './status-report.ts'

const hashLabel = 'pod-template-hash'
const revisionAnnotation = 'deployment.kubernetes.io/revision'

/** One ReplicaSet for each template; the newest grows to the full size, the others shrink as its pods become ready. */
export function startDeployments(context: ActorContext): void {
  const { api, signal } = context
  const deployments = context.following(deploymentType)
  const replicaSets = context.following(replicaSetType)
  const byOwner = new Map<string, Map<string, ReplicaSet>>()
  const work = new KeyedWork({ ...context, delayMs: 5, work: reconcile, failed: context.failed })
  deployments.subscribe((after) => after && work.mark(keyOf(after)))
  replicaSets.subscribe((after, before) => {
    const replicaSet = after ?? before
    const owner = replicaSet === undefined ? undefined : controllerOf(replicaSet)
    if (replicaSet === undefined || owner?.kind !== deploymentType.kind) return
    const owned = byOwner.get(owner.uid) ?? new Map<string, ReplicaSet>()
    byOwner.set(owner.uid, owned)
    if (after === undefined) owned.delete(replicaSet.metadata.name)
    else owned.set(replicaSet.metadata.name, after)
    work.mark(`${replicaSet.metadata.namespace}/${owner.name}`)
  })

  async function reconcile(key: string): Promise<void> {
    const deployment = deployments.get(key)
    if (deployment === undefined || deployment.metadata.deletionTimestamp !== undefined) return
    const wanted = deployment.spec.replicas ?? 1
    const hash = templateHash(deployment)
    const name = `${deployment.metadata.name}-${hash}`
    const owned = [...(byOwner.get(deployment.metadata.uid)?.values() ?? [])]
    const current =
      owned.find((replicaSet) => replicaSet.metadata.name === name) ??
      owned.find((replicaSet) => isOfRevision(replicaSet, deployment))
    if (current === undefined) await create(deployment, name, hash, wanted)
    else await scale(current, wanted)
    const ready = current?.status?.readyReplicas ?? 0
    for (const old of owned) {
      if (old === current) continue
      await scale(old, Math.max(0, Math.min(old.spec.replicas ?? 1, wanted - ready)))
    }
    await reportCounts(context, deploymentType, deployment, {
      replicas: sum(owned, (replicaSet) => replicaSet.status?.replicas),
      readyReplicas: sum(owned, (replicaSet) => replicaSet.status?.readyReplicas),
    })
  }

  async function create(deployment: Deployment, name: string, hash: string, replicas: number): Promise<void> {
    const { namespace } = deployment.metadata
    const { template, selector } = deployment.spec
    const labels = { ...template.metadata?.labels, [hashLabel]: hash }
    try {
      const made = await api.create(
        replicaSetType,
        {
          metadata: {
            name,
            ...(namespace === undefined ? {} : { namespace }),
            labels,
            ownerReferences: ownedBy(deployment, deploymentType),
          },
          spec: {
            replicas,
            selector: { ...selector, matchLabels: { ...selector.matchLabels, [hashLabel]: hash } },
            template: { ...template, metadata: { ...template.metadata, labels } },
          },
        },
        signal,
      )
      replicaSets.learn(made)
    } catch (error) {
      if (!isKubeError(error, 'AlreadyExists')) throw error
    }
  }

  async function scale(replicaSet: ReplicaSet, replicas: number): Promise<void> {
    if (replicaSet.spec.replicas === replicas) return
    const { name, namespace } = replicaSet.metadata
    const ref = namespace === undefined ? { name } : { name, namespace }
    replicaSets.learn(await api.patch(replicaSetType, ref, { type: 'merge', body: { spec: { replicas } } }, signal))
  }
}

/** Made by another cluster's controller, which names ReplicaSets by another hash. */
function isOfRevision(replicaSet: ReplicaSet, deployment: Deployment): boolean {
  const revision = deployment.metadata.annotations?.[revisionAnnotation]
  return revision !== undefined && replicaSet.metadata.annotations?.[revisionAnnotation] === revision
}

function sum(list: readonly ReplicaSet[], count: (replicaSet: ReplicaSet) => number | undefined): number {
  return list.reduce((total, replicaSet) => total + (count(replicaSet) ?? 0), 0)
}

function templateHash(deployment: Deployment): string {
  let hash = 5381
  for (const character of JSON.stringify(deployment.spec.template))
    hash = (Math.imul(hash, 33) ^ character.charCodeAt(0)) | 0
  return (hash >>> 0).toString(36)
}
