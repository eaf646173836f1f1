// A person at a simulated cluster: the API as they see it, with the two questions about themselves that the simulator does not
// serve, and with what they may not do, where that is part of the story.

import { type SelfSubjectAccessReview, selfSubjectAccessReviews } from '../../api/access-review.ts'
import type { KubeObject, ResourceType } from '../../api/kube.ts'
import { KubeError } from '../../api/kube-error.ts'
import { selfSubjectReviews } from '../../api/self-review.ts'
import type { KubeApi } from '../../ports/kube-api.ts'

export interface PersonOptions {
  readonly name: string
  /** `patch directupdates`, `update directupdates/approval`, `list nodes`; everything unless told. */
  readonly may?: (verb: string, resource: string) => boolean
  /** Throws where the API is away. */
  readonly reach?: () => void
}

export function simulatedPerson(api: KubeApi, { name, may = () => true, reach }: PersonOptions): KubeApi {
  const check = (verb: string, { plural, apiVersion }: ResourceType) => {
    reach?.()
    if (may(verb, plural)) return
    const group = apiVersion.includes('/') ? apiVersion.split('/')[0] : ''
    const sentence = `${plural} is forbidden: User "${name}" cannot ${verb} resource "${plural}" in API group "${group}" at the cluster scope`
    throw new KubeError('Forbidden', sentence, { status: 403 })
  }
  const create: KubeApi['create'] = async (type, object, signal) => {
    const meta = { name: '', uid: '', resourceVersion: '', creationTimestamp: '' }
    if (type.kind === selfSubjectReviews.kind) {
      return answered(type, { ...object, metadata: meta, status: { userInfo: { username: name } } })
    }
    if (type.kind === selfSubjectAccessReviews.kind) {
      reach?.()
      const { resource, subresource, verb } = reviewOf(object).resourceAttributes
      const allowed = may(verb, subresource === undefined ? resource : `${resource}/${subresource}`)
      return answered(type, { ...object, metadata: meta, status: { allowed } })
    }
    check('create', type)
    return api.create(type, object, signal)
  }
  return {
    create,
    get: async (type, ref, signal) => {
      check('get', type)
      return api.get(type, ref, signal)
    },
    list: async (type, options, signal) => {
      check('list', type)
      return api.list(type, options, signal)
    },
    watch: async (type, options, onEvent, signal) => {
      check('list', type)
      return api.watch(type, options, onEvent, signal)
    },
    replace: async (type, object, signal, subResource) => {
      check('update', type)
      return api.replace(type, object, signal, subResource)
    },
    patch: async (type, ref, patch, signal, subResource) => {
      check('patch', type)
      return api.patch(type, ref, patch, signal, subResource)
    },
    delete: async (type, ref, options, signal) => {
      check('delete', type)
      return api.delete(type, ref, options, signal)
    },
    evict: async (pod, options, signal) => {
      reach?.()
      return api.evict(pod, options, signal)
    },
    serverVersion: async (signal) => {
      reach?.()
      return api.serverVersion(signal)
    },
    readLines: async (path, onLine, signal) => {
      reach?.()
      return api.readLines(path, onLine, signal)
    },
  }
}

function reviewOf(object: object): SelfSubjectAccessReview['spec'] {
  return (object as Pick<SelfSubjectAccessReview, 'spec'>).spec
}

/** The descriptor says which kind this is. */
function answered<T extends KubeObject>(_type: ResourceType<T>, object: unknown): T {
  return object as T
}
