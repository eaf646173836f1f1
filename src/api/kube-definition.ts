// As much of a CustomResourceDefinition as tells whether a kind of others is served here.

import type { KubeObject, ResourceType } from './kube.ts'

export interface ResourceDefinition extends KubeObject {
  readonly spec: {
    readonly versions?: readonly { readonly name: string; readonly served: boolean }[]
    readonly [field: string]: unknown
  }
}

export const resourceDefinitionType: ResourceType<ResourceDefinition> = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  namespaced: false,
}
