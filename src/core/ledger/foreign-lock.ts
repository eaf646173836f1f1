// Another tool's lock, read as that tool reads it: who owns it now, whether we may take it, and what is to be written then.

import { type ForeignLock, type LockOwner, lockOwnerSchema, lockOwnersSchema } from '../../api/foreign-lock.ts'
import type { Reason } from '../../api/reason.ts'

/** The name under which we own a lock; no node is called so by accident, and whichever of our operators leads may use it. */
export const lockOwnerID = 'slipway'

const defaultAnnotations = {
  Kured: 'weave.works/kured-node-lock',
  Kustodian: 'k8s.io/kustodian-node-lock',
} as const

export function lockAnnotation({ type, annotation }: ForeignLock): string {
  return annotation ?? defaultAnnotations[type]
}

export type LockStanding = {
  /** Nodes that others work on under this lock. */
  readonly strangers: readonly string[]
  /** When the next stranger's time is over, in milliseconds. */
  readonly expiresAt?: number | undefined
} & (
  | { readonly lock: 'ours' | 'free' }
  /** Somebody else has it, or it cannot be read. */
  | { readonly lock: 'closed'; readonly reason: Reason }
)

export function judgeLock(lock: ForeignLock, text: string | undefined, now: Date): LockStanding {
  const owners = ownersIn(text)
  const { namespace, name } = lock.daemonSet
  const where = `annotation ${lockAnnotation(lock)} of DaemonSet ${namespace}/${name}`
  if (!owners) {
    const message = `${where} cannot be read, so nothing starts; correct or remove it: ${(text ?? '').slice(0, 200)}`
    return { lock: 'closed', strangers: [], reason: { code: 'ForeignLockUnknown', message } }
  }
  const alive = owners.filter((owner) => owner.nodeID !== lockOwnerID && !isOver(owner, now))
  const ends = alive.flatMap((owner) => endOf(owner) ?? [])
  const strangers = alive.map(({ nodeID }) => nodeID)
  const known = { strangers, expiresAt: ends.length > 0 ? Math.min(...ends) : undefined }
  if (owners.some(({ nodeID }) => nodeID === lockOwnerID)) return { lock: 'ours', ...known }
  if (alive.length < (lock.maxOwners ?? 1)) return { lock: 'free', ...known }
  const since = alive[0]?.created === undefined ? '' : ` since ${alive[0].created}`
  const message = `${strangers.slice(0, 3).join(', ')} holds ${where}${since}; it goes on when that is released`
  return { lock: 'closed', ...known, reason: { code: 'ForeignLockHeld', message } }
}

/** The annotation with us as an owner, in the form the tool itself would write. */
export function lockWithUs(lock: ForeignLock, text: string | undefined, now: Date): string {
  const us = { nodeID: lockOwnerID, metadata: { unschedulable: false }, created: now.toISOString(), TTL: 0 }
  const others = (ownersIn(text) ?? []).filter((owner) => owner.nodeID !== lockOwnerID && !isOver(owner, now))
  return written(lock, [...others, us])
}

/** The annotation without us; null where nothing is left of it. */
export function lockWithoutUs(lock: ForeignLock, text: string | undefined): string | null {
  const others = (ownersIn(text) ?? []).filter(({ nodeID }) => nodeID !== lockOwnerID)
  return others.length === 0 ? null : written(lock, others)
}

/** Where an edit of the policy left room for fewer than there are, nobody loses what they own. */
function written({ maxOwners = 1 }: ForeignLock, owners: readonly LockOwner[]): string {
  const room = Math.max(maxOwners, owners.length)
  return JSON.stringify(room === 1 ? owners[0] : { maxOwners: room, locks: owners })
}

function ownersIn(text: string | undefined): readonly LockOwner[] | undefined {
  if (text === undefined || text === '') return []
  const value = json(text)
  const several = lockOwnersSchema.safeParse(value)
  if (several.success) return several.data.locks ?? []
  const one = lockOwnerSchema.safeParse(value)
  return one.success ? [one.data] : undefined
}

function endOf({ created, TTL = 0 }: LockOwner): number | undefined {
  const since = Date.parse(created ?? '')
  return TTL > 0 && !Number.isNaN(since) ? since + TTL / 1e6 : undefined
}

function isOver(owner: LockOwner, now: Date): boolean {
  const end = endOf(owner)
  return end !== undefined && now.getTime() >= end
}

function json(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
