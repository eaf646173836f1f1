// A namespace of our making goes with us. What a person made stays, with all it holds: it must never look like ours.

import { type KubeObject, namespaces } from '../../api/kube.ts'
import type { KubeApi } from '../../ports/kube-api.ts'
import { find } from '../read-cluster.ts'
import type { Manifest } from './manifest.ts'

const nameLabel = 'app.kubernetes.io/name'

export function isOurMaking({ metadata }: KubeObject): boolean {
  return metadata.labels?.[nameLabel] === 'slipway'
}

/** Whether somebody else made the namespace that is wanted. */
export async function isTheirs(api: KubeApi, name: string, signal: AbortSignal): Promise<boolean> {
  const found = await find(api, namespaces, { name }, signal)
  return found !== undefined && !isOurMaking(found)
}

/** Without the label by which it would be taken for ours. */
export function unclaimed(namespace: Manifest): Manifest {
  const { [nameLabel]: _ours, ...labels } = namespace.metadata.labels ?? {}
  return { ...namespace, metadata: { ...namespace.metadata, labels } }
}
