// How an object goes: pods gracefully, objects with finalizers when the last one is taken off, everything else at once.

import type { DeleteOptions } from '../../ports/kube-api.ts'
import type { ObjectStore } from './object-store.ts'
import { conflict } from './refusals.ts'
import type { ResourceTable } from './resource-table.ts'
import type { StoredObject } from './stored-object.ts'

export const foregroundFinalizer = 'foregroundDeletion'
export const orphanFinalizer = 'orphan'

export function checkPreconditions(
  table: ResourceTable,
  object: StoredObject,
  wanted: { readonly uid?: string | undefined; readonly resourceVersion?: string | undefined },
): void {
  const { uid, resourceVersion, name } = object.metadata
  if (wanted.uid !== undefined && wanted.uid !== uid) {
    throw conflict(
      table.type,
      name,
      `Precondition failed: UID in precondition: ${wanted.uid}, UID in object meta: ${uid}`,
    )
  }
  if (wanted.resourceVersion !== undefined && wanted.resourceVersion !== resourceVersion) {
    throw conflict(
      table.type,
      name,
      `Precondition failed: ResourceVersion in precondition: ${wanted.resourceVersion}, ResourceVersion in object meta: ${resourceVersion}`,
    )
  }
}

/** Carries a delete out as far as it goes now. `nowMs` is the server's wall clock. */
export function deleteObject(
  store: ObjectStore,
  table: ResourceTable,
  object: StoredObject,
  options: DeleteOptions,
  nowMs: number,
  client: string,
): void {
  const graceSeconds = table.type.kind === 'Pod' ? podGrace(object, options.gracePeriodSeconds) : 0
  const { deletionTimestamp, deletionGracePeriodSeconds } = object.metadata
  if (deletionTimestamp !== undefined && graceSeconds > 0) {
    const earlier = deletionGracePeriodSeconds ?? 0
    if (options.gracePeriodSeconds === undefined || graceSeconds >= earlier) return
  }
  const finalizers = withPropagation(object.metadata.finalizers ?? [], options)
  const namespaceStays = table.type.kind === 'Namespace' && deletionTimestamp === undefined
  if (graceSeconds === 0 && finalizers.length === 0 && !namespaceStays) {
    store.remove(table, object, client)
    return
  }
  if (deletionTimestamp !== undefined && graceSeconds === 0 && deletionGracePeriodSeconds === 0) return
  const { generation } = object.metadata
  store.update(
    table,
    object,
    {
      ...object,
      metadata: {
        ...object.metadata,
        deletionTimestamp: timestamp(nowMs + graceSeconds * 1000),
        ...(namespaceStays ? {} : { deletionGracePeriodSeconds: graceSeconds }),
        ...(generation === undefined ? {} : { generation: generation + 1 }),
        ...(finalizers.length === 0 ? {} : { finalizers }),
      },
      ...(namespaceStays ? { status: { phase: 'Terminating' } } : {}),
    },
    client,
  )
}

/** Whether nothing holds an object back any more that is being deleted. */
export function mayGo(object: StoredObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers } = object.metadata
  return deletionTimestamp !== undefined && deletionGracePeriodSeconds === 0 && (finalizers ?? []).length === 0
}

/** RFC 3339 with whole seconds, as the API server writes instants. */
export function timestamp(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`
}

/** A pod that runs nowhere, or has ended, goes at once whatever was asked for. */
function podGrace(pod: StoredObject, asked: number | undefined): number {
  const phase = pod.status?.phase
  if (!pod.spec?.nodeName || phase === 'Succeeded' || phase === 'Failed') return 0
  const own = pod.spec.terminationGracePeriodSeconds
  const seconds = asked ?? (typeof own === 'number' ? own : 30)
  return seconds < 0 ? 1 : seconds
}

function withPropagation(finalizers: readonly string[], options: DeleteOptions): readonly string[] {
  const added =
    options.propagation === 'Foreground'
      ? foregroundFinalizer
      : options.propagation === 'Orphan'
        ? orphanFinalizer
        : undefined
  return added === undefined || finalizers.includes(added) ? finalizers : [...finalizers, added]
}
