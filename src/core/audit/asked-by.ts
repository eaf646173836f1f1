// Who stands behind a change, as far as the object itself tells. Only the API server's own audit log knows who sent a request.

import { type AuditSource, askedByAnnotation } from '../../api/audit.ts'
import type { KubeObject } from '../../api/kube.ts'

export interface Author {
  readonly by?: string
  readonly bySource?: AuditSource
}

/** Whoever made it: by its annotation, the schedule that owns it, or the program that wrote it. */
export function askedBy({ metadata }: KubeObject): Author {
  const said = metadata.annotations?.[askedByAnnotation]
  if (said !== undefined) return { by: said.slice(0, 253), bySource: 'annotation' }
  const owner = metadata.ownerReferences?.[0]
  if (owner) return { by: `${owner.kind}/${owner.name}`, bySource: 'owner' }
  return lastWriter({ metadata })
}

/** The person or schedule that asked, for people to read; undefined where only a program is on record, which is nobody. */
export function personWhoAsked(object: KubeObject): string | undefined {
  const { by, bySource } = askedBy(object)
  return bySource === 'fieldManager' ? undefined : by
}

/** The program that wrote the spec last. */
export function lastWriter({ metadata }: Pick<KubeObject, 'metadata'>): Author {
  const writers = (metadata.managedFields ?? []).filter(({ subresource }) => subresource === undefined)
  const [last] = [...writers].sort((a, b) => (b.time ?? '').localeCompare(a.time ?? ''))
  return last?.manager === undefined ? {} : { by: last.manager.slice(0, 128), bySource: 'fieldManager' }
}
