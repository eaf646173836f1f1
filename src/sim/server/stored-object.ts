import type { KubeObject, ResourceType } from '../../api/kube.ts'
import type { JsonObject } from './json.ts'

/** Any object as the store keeps it: shared with every reader, never changed. */
export interface StoredObject extends KubeObject {
  readonly spec?: JsonObject
  readonly status?: JsonObject
  readonly [field: string]: unknown
}

/** A kind's name across groups and versions. */
export type KindId = string

export function kindId(type: Pick<ResourceType, 'apiVersion' | 'kind'>): KindId {
  return `${type.apiVersion}/${type.kind}`
}

function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf('/')
  return slash < 0 ? '' : apiVersion.slice(0, slash)
}

/** As messages of the API server name a resource: `pods`, `nodestates.slipway.dev`. */
export function qualifiedPlural(type: Pick<ResourceType, 'apiVersion' | 'plural'>): string {
  const group = groupOf(type.apiVersion)
  return group === '' ? type.plural : `${type.plural}.${group}`
}

export function withStatus(object: StoredObject, status: StoredObject['status']): StoredObject {
  if (status !== undefined) return { ...object, status }
  const { status: _, ...rest } = object
  return rest
}
