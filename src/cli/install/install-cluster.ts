// Brings an installation to what the settings say: applies what is wanted, and removes what an earlier one had besides.

import type { KubeObject, ResourceType } from '../../api/kube.ts'
import { isKubeError } from '../../api/kube-error.ts'
import type { KubeApi, ObjectRef } from '../../ports/kube-api.ts'
import { listAll } from '../read-cluster.ts'
import { type Applied, applyManifest } from './apply-manifest.ts'
import { installedKinds, ourLabel } from './installed-kinds.ts'
import { lockPrefix } from './lock-rights.ts'
import type { Manifest } from './manifest.ts'
import { operatorName } from './rights.ts'

const managedBy = 'app.kubernetes.io/managed-by'
/** Besides its own the operator has rights in these. */
const operatorsPlaces = ['kube-node-lease', 'kube-system', 'default']

export type Change = Applied | 'removed'

export interface InstalledObject {
  readonly type: ResourceType
  readonly ref: ObjectRef
}

/** `told` hears of each object. Nothing is removed before all that is wanted is there. */
export async function installCluster(
  api: KubeApi,
  namespace: string,
  wanted: readonly Manifest[],
  told: (change: Change, object: string) => void,
  signal: AbortSignal,
): Promise<void> {
  for (const manifest of wanted)
    told(await applyManifest(api, manifest, signal), nameOf(manifest.kind, manifest.metadata))
  const names = new Set(wanted.map(({ kind, metadata }) => nameOf(kind, metadata)))
  for (const { type, ref } of await installedObjects(api, namespace, signal)) {
    const name = nameOf(type.kind, ref)
    if (names.has(name)) continue
    await remove(api, type, ref, signal)
    told('removed', name)
  }
}

/** Everything of ours but namespace, definitions and what was made of them. */
export async function installedObjects(
  api: KubeApi,
  namespace: string,
  signal: AbortSignal,
): Promise<readonly InstalledObject[]> {
  const found = await Promise.all(
    installedKinds.map(async (type) => {
      const { items } = await listAll(api, type, { labelSelector: ourLabel }, signal)
      const ours = items.filter(({ metadata }) => canBeOurs(type, metadata, namespace))
      return ours.map(({ metadata }) => ({ type, ref: refOf(metadata) }))
    }),
  )
  return found.flat()
}

/** The label alone proves nothing: people put it on what they make for Slipway, and another program may have that name. */
function canBeOurs({ kind, namespaced }: ResourceType, metadata: KubeObject['metadata'], namespace: string): boolean {
  const { name, namespace: place = '', labels } = metadata
  if (!name.startsWith('slipway-') || labels?.[managedBy] === 'Helm') return false
  if (!namespaced || place === namespace) return true
  const isRight = kind === 'Role' || kind === 'RoleBinding'
  return isRight && (name.startsWith(lockPrefix) || (name.startsWith(operatorName) && operatorsPlaces.includes(place)))
}

/** What is gone already is gone. */
export async function remove(api: KubeApi, type: ResourceType, ref: ObjectRef, signal: AbortSignal): Promise<void> {
  try {
    await api.delete(type, ref, { propagation: 'Background' }, signal)
  } catch (error) {
    if (!isKubeError(error, 'NotFound')) throw error
  }
}

export function refOf({ name, namespace }: KubeObject['metadata']): ObjectRef {
  return { name, ...(namespace !== undefined && { namespace }) }
}

function nameOf(kind: string, { name, namespace }: ObjectRef): string {
  return `${kind} ${namespace === undefined ? name : `${namespace}/${name}`}`
}
