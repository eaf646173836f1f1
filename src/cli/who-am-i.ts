// Whom the API server takes us for: a hold says who made it.

import type { KubeObject, ResourceType } from '../api/kube.ts'
import { isKubeError } from '../api/kube-error.ts'
import type { KubeApi } from '../ports/kube-api.ts'

interface SelfSubjectReview extends KubeObject {
  readonly status?: { readonly userInfo?: { readonly username?: string } }
}

const reviews: ResourceType<SelfSubjectReview> = {
  apiVersion: 'authentication.k8s.io/v1',
  kind: 'SelfSubjectReview',
  plural: 'selfsubjectreviews',
  namespaced: false,
}

/** Undefined where the server does not tell. */
export async function whoAmI(api: KubeApi, signal: AbortSignal): Promise<string | undefined> {
  const { apiVersion, kind } = reviews
  try {
    const { status } = await api.create(reviews, { apiVersion, kind, metadata: {} }, signal)
    return status?.userInfo?.username
  } catch (error) {
    if (isKubeError(error, 'Forbidden', 'NotFound', 'Invalid')) return undefined
    throw error
  }
}
