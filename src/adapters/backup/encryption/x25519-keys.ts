import { createPrivateKey, createPublicKey, diffieHellman, type KeyObject } from 'node:crypto'

const keyBytes = 32
// The fixed DER in front of the 32 bytes of an X25519 key (RFC 8410).
const publicPrefix = Buffer.from('302a300506032b656e032100', 'hex')
const privatePrefix = Buffer.from('302e020100300506032b656e04220420', 'hex')

export function publicOf(secret: Uint8Array): Buffer {
  return createPublicKey(privateKey(secret)).export({ format: 'der', type: 'spki' }).subarray(-keyBytes)
}

export function agreed(secret: Uint8Array, theirs: Uint8Array): Buffer {
  const key = Buffer.concat([publicPrefix, theirs])
  return diffieHellman({
    privateKey: privateKey(secret),
    publicKey: createPublicKey({ key, format: 'der', type: 'spki' }),
  })
}

function privateKey(secret: Uint8Array): KeyObject {
  return createPrivateKey({ key: Buffer.concat([privatePrefix, secret]), format: 'der', type: 'pkcs8' })
}
