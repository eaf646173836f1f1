// A sum of what is stored, in a header of its own: a bucket that locks its objects takes nothing without one. Every store knows
// Content-MD5; where this machine must not make it (FIPS) it is S3's own SHA-256.

import { createHash } from 'node:crypto'

export type SumKind = 'md5' | 'sha256'

export const algorithmHeader = { 'x-amz-checksum-algorithm': 'SHA256' } as const

/** What this machine's library of ciphers can make. */
export function possibleSum(make: (algorithm: string) => unknown = createHash): SumKind {
  try {
    make('md5')
    return 'md5'
  } catch {
    return 'sha256'
  }
}

export function sumHeaders(kind: SumKind, body: Uint8Array): Readonly<Record<string, string>> {
  return kind === 'md5'
    ? { 'content-md5': sumOfBody('md5', body) }
    : { 'x-amz-checksum-sha256': sumOfBody('sha256', body) }
}

export function sumOfBody(kind: SumKind, body: Uint8Array): string {
  return createHash(kind).update(body).digest('base64')
}
