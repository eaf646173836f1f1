import type { KubeObject, ResourceType } from './kube.ts'

/** Whether the caller may do something: the API server's own word. */
export interface SelfSubjectAccessReview extends KubeObject {
  readonly spec: {
    readonly resourceAttributes: {
      readonly group: string
      readonly resource: string
      readonly subresource?: string
      readonly verb: string
      readonly name?: string
    }
  }
  readonly status?: { readonly allowed: boolean; readonly reason?: string }
}

export const selfSubjectAccessReviews: ResourceType<SelfSubjectAccessReview> = {
  apiVersion: 'authorization.k8s.io/v1',
  kind: 'SelfSubjectAccessReview',
  plural: 'selfsubjectaccessreviews',
  namespaced: false,
}
