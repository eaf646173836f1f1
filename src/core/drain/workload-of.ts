import type { Pod } from '../../api/kube.ts'

/** What a person calls the pod's workload, as `Deployment shop/checkout`; undefined where nothing controls it. */
export function workloadOf({ metadata }: Pod): string | undefined {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true)
  if (!owner) return undefined
  // A ReplicaSet of a Deployment carries the Deployment's name and the hash that its pods have as a label.
  const hash = metadata.labels?.['pod-template-hash']
  const ofDeployment = owner.kind === 'ReplicaSet' && hash !== undefined && owner.name.endsWith(`-${hash}`)
  const kind = ofDeployment ? 'Deployment' : owner.kind
  const name = ofDeployment ? owner.name.slice(0, -hash.length - 1) : owner.name
  return `${kind} ${metadata.namespace}/${name}`
}

export function controllerKind({ metadata }: Pod): string | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true)?.kind
}

export function podName({ metadata }: Pod): string {
  return `${metadata.namespace}/${metadata.name}`
}

export function hasEnded({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed'
}
