// The two ways age hides a file's key that we know: to an X25519 recipient, and behind a passphrase (scrypt).

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes, scrypt } from 'node:crypto'
import { bytesOfBech32 } from './bech32.ts'
import { agreed, publicOf } from './x25519-keys.ts'

export type AgeKey =
  | { readonly kind: 'identity'; readonly secret: Buffer; readonly recipient: Buffer }
  | { readonly kind: 'recipient'; readonly recipient: Buffer }
  | { readonly kind: 'passphrase'; readonly text: string }

export interface Stanza {
  readonly args: readonly string[]
  readonly body: Buffer
}

const cipher = 'chacha20-poly1305'
const x25519 = 'age-encryption.org/v1/X25519'
const scryptLabel = 'age-encryption.org/v1/scrypt'
const fileKeyBytes = 16
const tagBytes = 16
/** 32 MiB of memory for one guess. age's own 18 would take 256 MiB of a control-plane host. */
const workFactor = 15
const maxWorkFactor = 20
const noNonce = Buffer.alloc(12)

/** Of a text as it stands in a Secret or a file, also as age-keygen writes it: its lines of comment do not count. */
export function ageKeyOf(text: string): AgeKey | { readonly wrong: string } {
  const lines = text.split(/\r?\n/).map((line) => line.trim())
  const [key, ...more] = lines.filter((line) => line !== '' && !line.startsWith('#'))
  if (key === undefined) return { wrong: 'there is nothing in it but blank lines and comments' }
  if (more.length > 0) {
    return { wrong: `it has ${more.length + 1} lines besides comments, and one of them must be the key` }
  }
  if (/^age-secret-key-/i.test(key)) {
    const secret = bytesOfBech32(key, 'age-secret-key-')
    if (secret?.length === 32) return { kind: 'identity', secret, recipient: publicOf(secret) }
    return { wrong: 'it looks like an identity (AGE-SECRET-KEY-1…), but is mistyped or cut' }
  }
  if (/^age1/i.test(key)) {
    const recipient = bytesOfBech32(key, 'age')
    if (recipient?.length === 32) return { kind: 'recipient', recipient }
    return { wrong: 'it looks like a recipient (age1…), but is mistyped or cut' }
  }
  return { kind: 'passphrase', text: key }
}

export async function wrapFileKey(fileKey: Buffer, key: AgeKey): Promise<Stanza> {
  if (key.kind === 'passphrase') {
    const salt = randomBytes(16)
    const body = wrapped(fileKey, await stretched(key.text, salt, workFactor))
    return { args: ['scrypt', unpadded(salt), String(workFactor)], body }
  }
  const ephemeral = randomBytes(32)
  const share = publicOf(ephemeral)
  const body = wrapped(fileKey, derived(agreed(ephemeral, key.recipient), share, key.recipient))
  return { args: ['X25519', unpadded(share)], body }
}

/** Undefined where this key does not open it. */
export async function unwrapFileKey({ args, body }: Stanza, key: AgeKey): Promise<Buffer | undefined> {
  const [kind, first = '', second = ''] = args
  const given = Buffer.from(first, 'base64')
  if (body.length !== fileKeyBytes + tagBytes) return undefined
  if (kind === 'X25519' && key.kind === 'identity' && given.length === 32) {
    return unwrapped(body, derived(agreed(key.secret, given), given, key.recipient))
  }
  const factor = Number(second)
  if (kind === 'scrypt' && key.kind === 'passphrase' && factor > 0 && factor <= maxWorkFactor) {
    return unwrapped(body, await stretched(key.text, given, factor))
  }
  return undefined
}

export function unpadded(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64').replace(/=+$/, '')
}

function derived(shared: Buffer, share: Buffer, recipient: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', shared, Buffer.concat([share, recipient]), x25519, 32))
}

function stretched(passphrase: string, salt: Buffer, factor: number): Promise<Buffer> {
  const N = 2 ** factor
  return new Promise((resolve, reject) => {
    const settings = { N, r: 8, p: 1, maxmem: 2 * 128 * 8 * N }
    scrypt(passphrase, Buffer.concat([Buffer.from(scryptLabel), salt]), 32, settings, (error, key) =>
      error ? reject(error) : resolve(key),
    )
  })
}

function wrapped(fileKey: Buffer, key: Buffer): Buffer {
  const sealing = createCipheriv(cipher, key, noNonce, { authTagLength: tagBytes })
  return Buffer.concat([sealing.update(fileKey), sealing.final(), sealing.getAuthTag()])
}

function unwrapped(body: Buffer, key: Buffer): Buffer | undefined {
  const opening = createDecipheriv(cipher, key, noNonce, { authTagLength: tagBytes }).setAuthTag(
    body.subarray(-tagBytes),
  )
  try {
    return Buffer.concat([opening.update(body.subarray(0, -tagBytes)), opening.final()])
  } catch {
    // Another recipient's.
    return undefined
  }
}
