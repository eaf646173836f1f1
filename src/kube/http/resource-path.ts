import type { ResourceType } from '../../api/kube.ts'

export type Query = Readonly<Record<string, string | number | boolean | undefined>>

export interface PathParts {
  readonly namespace?: string | undefined
  readonly name?: string
  readonly subResource?: string | undefined
}

export function resourcePath(type: ResourceType, parts: PathParts): string {
  const root = type.apiVersion.includes('/') ? `/apis/${type.apiVersion}` : `/api/${type.apiVersion}`
  const namespace = type.namespaced && parts.namespace !== undefined ? `/namespaces/${encode(parts.namespace)}` : ''
  const name = parts.name === undefined ? '' : `/${encode(parts.name)}`
  const subResource = parts.subResource === undefined ? '' : `/${parts.subResource}`
  return `${root}${namespace}/${type.plural}${name}${subResource}`
}

export function queryText(query: Query): string {
  const parts = Object.entries(query).filter(([, value]) => value !== undefined)
  return parts.length === 0 ? '' : `?${parts.map(([key, value]) => `${key}=${encode(String(value))}`).join('&')}`
}

/** A name that would change the path is a mistake further up; it must not reach another object. */
function encode(part: string): string {
  if (part === '' || part === '.' || part === '..') throw new RangeError(`"${part}" is not a name`)
  return encodeURIComponent(part)
}
