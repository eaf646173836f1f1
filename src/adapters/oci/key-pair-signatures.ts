// Signatures as cosign makes them with a key pair: ECDSA and RSA over SHA-256, Ed25519 over the text itself.

import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import type { ImageSignatures } from '../../ports/image-signatures.ts'

export const keyPairSignatures: ImageSignatures = {
  isPublicKey: (key) => publicKey(key) !== undefined,
  verify: (key, signed, signature) => {
    const known = publicKey(key)
    if (!known) return false
    const algorithm = known.asymmetricKeyType === 'ed25519' ? null : 'sha256'
    return verify(algorithm, Buffer.from(signed), known, Buffer.from(signature, 'base64'))
  },
}

const keyTypes = ['ec', 'rsa', 'ed25519']

function publicKey(pem: string): KeyObject | undefined {
  // A private key would be taken for its public half.
  if (!/-----BEGIN (RSA )?PUBLIC KEY-----/.test(pem)) return undefined
  const key = createdKey(pem)
  return key && keyTypes.includes(key.asymmetricKeyType ?? '') ? key : undefined
}

function createdKey(pem: string): KeyObject | undefined {
  try {
    return createPublicKey(pem)
  } catch (error) {
    // What OpenSSL cannot read has a code; anything else is a defect of ours.
    if (error instanceof Error && 'code' in error) return undefined
    throw error
  }
}
