// Whom the API server takes us for: holds and approvals say who made them.

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
