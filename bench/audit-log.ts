// What a role asked of the API server, as the server wrote it down.

import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'

interface AuditEvent {
  readonly auditID: string
  readonly verb: string
  readonly userAgent?: string
  readonly requestReceivedTimestamp: string
  readonly objectRef?: {
    readonly resource?: string
    readonly subresource?: string
    readonly namespace?: string
    readonly name?: string
  }
}

export type RequestCounts = ReadonlyMap<string, number>

/** Requests of these roles received between the instants, by role, verb and resource (`agent patch nodestates/status`). */
export async function countRequests(
  auditLogPath: string,
  roles: readonly string[],
  from: Date,
  until: Date,
): Promise<RequestCounts> {
  const counts = new Map<string, number>()
  for await (const { role, verb, atMs, objectRef } of ourRequests(auditLogPath)) {
    if (!roles.includes(role) || atMs < from.getTime() || atMs > until.getTime()) continue
    const { resource = '', subresource } = objectRef ?? {}
    const key = `${role} ${verb} ${resource}${subresource === undefined ? '' : `/${subresource}`}`
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return counts
}

/** When the eviction of each pod (`namespace/name`) was first asked for. */
export async function evictionTimes(auditLogPath: string): Promise<ReadonlyMap<string, number>> {
  const times = new Map<string, number>()
  for await (const { atMs, objectRef } of ourRequests(auditLogPath)) {
    if (objectRef?.subresource !== 'eviction') continue
    const pod = `${objectRef.namespace}/${objectRef.name}`
    times.set(pod, Math.min(atMs, times.get(pod) ?? atMs))
  }
  return times
}

async function* ourRequests(
  auditLogPath: string,
): AsyncGenerator<AuditEvent & { readonly role: string; readonly atMs: number }> {
  const seen = new Set<string>()
  for await (const line of createInterface({ input: createReadStream(auditLogPath) })) {
    // Most lines are of others: cheaper to look than to parse.
    if (!line.includes('"userAgent":"slipway/')) continue
    const event = JSON.parse(line) as AuditEvent
    const role = /^slipway\/\S+ \((\w+)\)$/.exec(event.userAgent ?? '')?.[1]
    // A watch has two lines, for its beginning and its end.
    if (role === undefined || seen.has(event.auditID)) continue
    seen.add(event.auditID)
    yield { ...event, role, atMs: Date.parse(event.requestReceivedTimestamp) }
  }
}

export function total(counts: RequestCounts, counted: (key: string) => boolean = () => true): number {
  return [...counts].reduce((sum, [key, count]) => sum + (counted(key) ? count : 0), 0)
}

export function listing(counts: RequestCounts): string {
  return [...counts]
    .toSorted(([, a], [, b]) => b - a)
    .map(([key, count]) => `${key} ${count}`)
    .join(', ')
}
