// Signatures as cosign makes them with a key pair: ECDSA and RSA over SHA-256, in bundles ECDSA over the hash that fits its curve;
// Ed25519 over the text itself.

import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import type { ImageSignatures } from '../../ports/image-signatures.ts'

export const keyPairSignatures: ImageSignatures = {
  isPublicKey: (key) => publicKey(key) !== undefined,
  verify: (key, signed, signature) => {
    const known = publicKey(key)
    if (!known) return false
    const [content, given] = [Buffer.from(signed), Buffer.from(signature, 'base64')]
    return hashesOf(known).some((hash) => verify(hash, content, known, given))
  },
}

function hashesOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): readonly (string | null)[] {
  if (asymmetricKeyType === 'ed25519') return [null]
  const larger = largerHashes[asymmetricKeyDetails?.namedCurve ?? '']
  return larger === undefined ? ['sha256'] : ['sha256', larger]
}

/** By the name OpenSSL has for the curve: P-384 and P-521. */
const largerHashes: Readonly<Record<string, string>> = { secp384r1: 'sha384', secp521r1: 'sha512' }

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
