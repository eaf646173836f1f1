// Reading from the cluster for one answer: whole lists, and the difference between "no such object" and "no such kind".

import { directUpdates } from '../api/direct-update.ts'
import type { KubeObject, ResourceType } from '../api/kube.ts'
import { isKubeError } from '../api/kube-error.ts'
import { type MaintenancePolicy, maintenancePolicies, policyName } from '../api/maintenance-policy.ts'
import { nodeProfiles } from '../api/node-profile.ts'
import { SlipwayError } from '../api/slipway-error.ts'
import { installHint } from '../core/failure.ts'
import type { KubeApi, ObjectRef, Selection } from '../ports/kube-api.ts'

const pageSize = 500

export interface Listing<T> {
  readonly items: readonly T[]
  readonly resourceVersion: string
}

export async function listAll<T extends KubeObject>(
  api: KubeApi,
  type: ResourceType<T>,
  selection: Selection,
  signal: AbortSignal,
): Promise<Listing<T>> {
  const items: T[] = []
  let continueToken: string | undefined
  let resourceVersion = ''
  do {
    const token: { readonly continueToken?: string } = continueToken === undefined ? {} : { continueToken }
    const page = await api
      .list(type, { ...selection, limit: pageSize, ...token }, signal)
      .catch((error: unknown) => Promise.reject(isKubeError(error, 'NotFound') ? kindMissing(type, error) : error))
    items.push(...page.items)
    resourceVersion = page.resourceVersion
    continueToken = page.continueToken
  } while (continueToken !== undefined)
  return { items, resourceVersion }
}

/** The object, or undefined where the kind is known and no such object is there. */
export async function find<T extends KubeObject>(
  api: KubeApi,
  type: ResourceType<T>,
  ref: ObjectRef,
  signal: AbortSignal,
): Promise<T | undefined> {
  try {
    return await api.get(type, ref, signal)
  } catch (error) {
    if (!isKubeError(error, 'NotFound')) throw error
    // A server without the kind says NotFound as well; a list tells the two apart.
    const selection = ref.namespace === undefined ? {} : { namespace: ref.namespace }
    await api
      .list(type, { ...selection, limit: 1 }, signal)
      .catch((cause: unknown) => Promise.reject(isKubeError(cause, 'NotFound') ? kindMissing(type, cause) : cause))
    return undefined
  }
}

export async function mustFind<T extends KubeObject>(
  api: KubeApi,
  type: ResourceType<T>,
  ref: ObjectRef,
  signal: AbortSignal,
): Promise<T> {
  const object = await find(api, type, ref, signal)
  if (object) return object
  if (type.kind === directUpdates.kind && (await isProfile(api, ref, signal))) {
    throw new SlipwayError('NotFound', `there is no DirectUpdate named ${ref.name}, but a NodeProfile`, {
      nextStep: `slipway why ${ref.name}; slipway retry --profile ${ref.name} tries it again where it failed`,
    })
  }
  throw new SlipwayError('NotFound', `there is no ${type.kind} named ${ref.name}`, {
    nextStep: 'look at what there is: slipway status, slipway nodes',
  })
}

/** Not so where nobody tells. */
async function isProfile(api: KubeApi, ref: ObjectRef, signal: AbortSignal): Promise<boolean> {
  return api.get(nodeProfiles, ref, signal).then(
    () => true,
    () => false,
  )
}

export function readPolicy(api: KubeApi, signal: AbortSignal): Promise<MaintenancePolicy | undefined> {
  return find(api, maintenancePolicies, { name: policyName }, signal)
}

export function kindMissing(type: ResourceType, cause: unknown): SlipwayError {
  return new SlipwayError('CrdsMissing', `this cluster does not know the kind ${type.kind} (${type.apiVersion})`, {
    nextStep: `Slipway is not installed here; ${installHint}`,
    cause,
  })
}
