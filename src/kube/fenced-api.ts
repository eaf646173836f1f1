import { SlipwayError } from '../api/slipway-error.ts'
import type { KubeApi } from '../ports/kube-api.ts'

/**
 * The same API, but every write is refused (NotLeader) unless `isCurrent` says so at that very moment; reads pass.
 * What keeps a leader that was frozen and woke up after its lease was lost from acting on the past.
 */
export function fencedApi(api: KubeApi, isCurrent: () => boolean): KubeApi {
  const check = (verb: string, what: string) => {
    if (isCurrent()) return
    throw new SlipwayError('NotLeader', `not the leader any more: ${verb} of ${what} was not sent`)
  }
  return {
    get: (type, ref, signal) => api.get(type, ref, signal),
    list: (type, options, signal) => api.list(type, options, signal),
    watch: (type, options, onEvent, signal) => api.watch(type, options, onEvent, signal),
    serverVersion: (signal) => api.serverVersion(signal),
    readLines: (path, onLine, signal) => api.readLines(path, onLine, signal),
    async create(type, object, signal) {
      check('create', `${type.kind} ${object.metadata.name ?? object.metadata.generateName ?? ''}`)
      return api.create(type, object, signal)
    },
    async replace(type, object, signal, subResource) {
      check('replace', `${type.kind} ${object.metadata.name}`)
      return api.replace(type, object, signal, subResource)
    },
    async patch(type, ref, patch, signal, subResource) {
      check('patch', `${type.kind} ${ref.name}`)
      return api.patch(type, ref, patch, signal, subResource)
    },
    async delete(type, ref, options, signal) {
      check('delete', `${type.kind} ${ref.name}`)
      return api.delete(type, ref, options, signal)
    },
    async evict(pod, options, signal) {
      check('eviction', `Pod ${pod.name}`)
      return api.evict(pod, options, signal)
    },
  }
}
