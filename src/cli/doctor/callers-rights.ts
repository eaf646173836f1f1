import type { KubeObject, ResourceType } from '../../api/kube.ts'
import type { RightSight } from '../../core/doctor/finding.ts'
import type { KubeApi } from '../../ports/kube-api.ts'

interface AccessReview extends KubeObject {
  readonly spec: {
    readonly resourceAttributes: { readonly verb: string; readonly resource: string; readonly group: string }
  }
  readonly status?: { readonly allowed?: boolean }
}

const accessReviews: ResourceType<AccessReview> = {
  apiVersion: 'authorization.k8s.io/v1',
  kind: 'SelfSubjectAccessReview',
  plural: 'selfsubjectaccessreviews',
  namespaced: false,
}

const asked = [
  { verb: 'list', group: '', resource: 'nodes', purpose: 'slipway nodes, status and plan' },
  { verb: 'list', group: '', resource: 'pods', purpose: 'slipway plan and why POD' },
  { verb: 'list', group: 'slipway.dev', resource: 'nodestates', purpose: 'slipway status, nodes and why' },
  { verb: 'create', group: 'slipway.dev', resource: 'directupdates', purpose: 'slipway update' },
  {
    verb: 'patch',
    group: 'slipway.dev',
    resource: 'directupdates',
    purpose: 'slipway pause, resume, retry and approve',
  },
  {
    verb: 'patch',
    group: 'slipway.dev',
    resource: 'maintenancepolicies',
    purpose: 'slipway stop, start and backup create',
  },
  { verb: 'patch', group: '', resource: 'nodes', purpose: 'slipway hold and release' },
] as const

/** What the API server says the caller may do of all that the commands need. */
export function callersRights(api: KubeApi, signal: AbortSignal): Promise<readonly RightSight[]> {
  return Promise.all(
    asked.map(async ({ purpose, ...resourceAttributes }) => {
      const { verb, group, resource } = resourceAttributes
      const { apiVersion, kind } = accessReviews
      const review = { apiVersion, kind, metadata: {}, spec: { resourceAttributes } }
      const { status } = await api.create(accessReviews, review, signal)
      return { what: `${verb} ${group === '' ? resource : `${resource}.${group}`}`, purpose, allowed: status?.allowed }
    }),
  )
}
