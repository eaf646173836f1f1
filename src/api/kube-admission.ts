// Admission webhooks and the endpoints of their services: the fields that tell whether one would stand in the way.

import type { KubeObject, LabelSelector, ResourceType } from './kube.ts'

export interface Webhook {
  readonly name: string
  readonly failurePolicy?: 'Fail' | 'Ignore'
  readonly clientConfig: {
    readonly service?: { readonly namespace: string; readonly name: string }
    readonly url?: string
  }
  readonly rules?: readonly {
    readonly apiGroups?: readonly string[]
    readonly resources?: readonly string[]
    readonly operations?: readonly string[]
  }[]
  readonly namespaceSelector?: LabelSelector
  readonly objectSelector?: LabelSelector
  readonly matchConditions?: readonly object[]
}

export interface WebhookConfiguration extends KubeObject {
  readonly webhooks?: readonly Webhook[]
}

export interface EndpointSlice extends KubeObject {
  readonly endpoints?:
    | readonly { readonly nodeName?: string; readonly conditions?: { readonly ready?: boolean } }[]
    | null
}

const webhookType = (kind: string): ResourceType<WebhookConfiguration> => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind,
  plural: `${kind.toLowerCase()}s`,
  namespaced: false,
})

export const validatingWebhooks = webhookType('ValidatingWebhookConfiguration')
export const mutatingWebhooks = webhookType('MutatingWebhookConfiguration')

export const endpointSlices: ResourceType<EndpointSlice> = {
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  plural: 'endpointslices',
  namespaced: true,
}
