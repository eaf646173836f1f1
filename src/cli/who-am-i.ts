// Whom the API server takes us for: updates, holds and approvals say who made them.

import { askedByAnnotation } from '../api/audit.ts'
import { isKubeError } from '../api/kube-error.ts'
import { selfSubjectReviews } from '../api/self-review.ts'
import type { KubeApi } from '../ports/kube-api.ts'

/** Undefined where the server does not tell. */
export async function whoAmI(api: KubeApi, signal: AbortSignal): Promise<string | undefined> {
  const { apiVersion, kind } = selfSubjectReviews
  try {
    const { status } = await api.create(selfSubjectReviews, { apiVersion, kind, metadata: {} }, signal)
    return status?.userInfo?.username
  } catch (error) {
    if (isKubeError(error, 'Forbidden', 'NotFound', 'Invalid')) return undefined
    throw error
  }
}

/** With who asks for it, where the server tells; of an object that has no annotation yet. */
export async function signed<M extends object>(
  api: KubeApi,
  metadata: M,
  signal: AbortSignal,
): Promise<M & { readonly annotations?: Readonly<Record<string, string>> }> {
  const by = await whoAmI(api, signal)
  return by === undefined ? metadata : { ...metadata, annotations: { [askedByAnnotation]: by } }
}
