// One run of one DirectUpdate. Its id is derived, not drawn: no write is needed before the first node, and a restarted
// operator arrives at the same id. A finished update that is edited becomes a new operation, so that Git can drive it.

import type { DirectUpdate } from '../../api/direct-update.ts'
import type { DrainSettings, MaintenancePolicy } from '../../api/maintenance-policy.ts'
import type { Work } from '../../api/node-state.ts'
import { parseDuration } from '../duration.ts'
import { fingerprint } from '../fingerprint.ts'

export const finalizer = 'slipway.dev/cleanup'

export interface Operation {
  readonly id: string
  readonly update: string
  readonly work: Work
  readonly nodeTimeout: string
  readonly drain: Drain
}

export interface Drain {
  readonly timeoutMs: number
  /** Absent = as each pod says. */
  readonly podGraceSeconds?: number
  readonly unmanagedPods: 'Block' | 'Delete'
  readonly emptyDir: 'Delete' | 'Block'
}

const ended = new Set(['Succeeded', 'Failed'])

/** The id of the run this update is in or should start now. */
export function operationID({ metadata, spec, status }: DirectUpdate): string {
  const work = fingerprint({ kubernetes: spec.kubernetes, script: spec.script, nodeSelector: spec.nodeSelector })
  const running = status?.operationID
  if (running?.endsWith(`-${work}`)) {
    const edited = status?.observedGeneration !== metadata.generation
    if (!(edited && ended.has(status?.phase ?? ''))) return running
  }
  return `${metadata.name}/${metadata.uid.slice(0, 8)}-${metadata.generation ?? 1}-${work}`
}

export function updateOfOperation(id: string): string {
  return id.slice(0, id.indexOf('/'))
}

export function operationOf(update: DirectUpdate, policy: MaintenancePolicy | undefined, namespace: string): Operation {
  const { spec } = update
  const drain: DrainSettings = { ...policy?.spec.drain, ...spec.drain }
  return {
    id: operationID(update),
    update: update.metadata.name,
    work: {
      ...(spec.kubernetes && { kubernetes: spec.kubernetes }),
      ...(spec.script && {
        script: { configMap: contentName(spec.script.sha256), namespace, sha256: spec.script.sha256 },
      }),
    },
    nodeTimeout: spec.nodeTimeout ?? '30m',
    drain: {
      timeoutMs: parseDuration(drain.timeout ?? '30m'),
      ...(drain.podGracePeriod !== undefined && { podGraceSeconds: parseDuration(drain.podGracePeriod) / 1000 }),
      unmanagedPods: drain.unmanagedPods ?? 'Block',
      emptyDir: drain.emptyDir ?? 'Delete',
    },
  }
}

/** The immutable ConfigMap that carries a content, one per content. */
export function contentName(sha256: string): string {
  return `slipway-content-${sha256.slice(0, 40)}`
}
