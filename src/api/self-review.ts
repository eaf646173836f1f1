import type { KubeObject, ResourceType } from './kube.ts'

/** Who the API server takes the caller for. */
export interface SelfSubjectReview extends KubeObject {
  readonly status?: { readonly userInfo?: { readonly username?: string } }
}

export const selfSubjectReviews: ResourceType<SelfSubjectReview> = {
  apiVersion: 'authentication.k8s.io/v1',
  kind: 'SelfSubjectReview',
  plural: 'selfsubjectreviews',
  namespaced: false,
}
