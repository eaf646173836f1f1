// Keys of releases: Ed25519, as `openssl genpkey -algorithm ed25519` makes them and `openssl pkey -pubout` tells their public half.

import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto'
import { SlipwayError } from '../../api/slipway-error.ts'

export function publicKey(pem: string): KeyObject {
  let key: KeyObject
  try {
    key = createPublicKey(pem)
  } catch (error) {
    throw unusable(error)
  }
  if (key.asymmetricKeyType !== 'ed25519') throw unusable()
  return key
}

export function keyIdOf(key: KeyObject): string {
  const published = key.type === 'private' ? createPublicKey(key) : key
  return createHash('sha256')
    .update(published.export({ type: 'spki', format: 'der' }))
    .digest('hex')
    .slice(0, 16)
}

export function hasSigned(key: KeyObject, content: Buffer, signature: Buffer): boolean {
  return verify(null, content, key, signature)
}

function unusable(cause?: unknown): SlipwayError {
  return new SlipwayError('Usage', 'this is no Ed25519 public key in PEM', {
    nextStep: 'name the file that begins with -----BEGIN PUBLIC KEY-----',
    cause,
  })
}
