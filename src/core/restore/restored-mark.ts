// How everybody learns that the API is of the past: an annotation on the policy, whose status is the ledger. It is written into etcd
// itself before an API server runs, so that no operator can lead without having seen it.

import { restoredAnnotation } from '../../api/maintenance-policy.ts'

export function policyKey(prefix: string): string {
  return `${prefix}/slipway.dev/maintenancepolicies/default`
}

export type MarkedText =
  | { readonly text: string }
  /** It carries the mark already. */
  | { readonly marked: true }
  /** Encrypted at rest, or something we do not know: only an API server can write it. */
  | { readonly unreadable: true }

/** The policy as it lies in etcd (custom resources are JSON there), with the mark. */
export function markedPolicy(stored: string, mark: string): MarkedText {
  const policy = parsed(stored)
  if (!isRecord(policy) || policy.kind !== 'MaintenancePolicy' || !isRecord(policy.metadata))
    return { unreadable: true }
  const annotations = isRecord(policy.metadata.annotations) ? policy.metadata.annotations : {}
  if (annotations[restoredAnnotation] === mark) return { marked: true }
  const metadata = { ...policy.metadata, annotations: { ...annotations, [restoredAnnotation]: mark } }
  // The API server ends each object with a line break.
  return { text: `${JSON.stringify({ ...policy, metadata })}\n` }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
