import { pods } from '../../api/kube.ts'
import { isJsonObject } from './json.ts'
import { badRequest, conflict } from './refusals.ts'
import type { StoredObject } from './stored-object.ts'

/** The pod with the node that a Binding gives it; refused where it has one or is going. */
export function bound(pod: StoredObject, target: unknown, now: string): StoredObject {
  const { name, deletionTimestamp } = pod.metadata
  const node = isJsonObject(target) ? target.name : undefined
  if (typeof node !== 'string') throw badRequest('a Binding needs target.name')
  if (deletionTimestamp !== undefined) {
    throw conflict(pods, name, `pod ${name} is being deleted, cannot be assigned to a host`)
  }
  if (pod.spec?.nodeName) {
    throw conflict(pods, name, `pod ${name} is already assigned to node "${String(pod.spec.nodeName)}"`)
  }
  const conditions = [{ type: 'PodScheduled', status: 'True', lastTransitionTime: now }]
  return { ...pod, spec: { ...pod.spec, nodeName: node }, status: { ...pod.status, conditions } }
}
