// The private half of a release key, at the moment a release is made.

import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { SlipwayError } from '../../api/slipway-error.ts'

/** Of a file in PEM, as `make release-key` and openssl write it. */
export async function readSigningKey(path: string): Promise<KeyObject> {
  return signingKey(await readFile(path, 'utf8').catch(() => ''), path)
}

/** `from` says where it came from. */
export function signingKey(pem: string, from: string): KeyObject {
  let key: KeyObject | undefined
  let cause: unknown
  try {
    key = createPrivateKey(pem)
  } catch (error) {
    cause = error
  }
  if (key?.asymmetricKeyType === 'ed25519') return key
  throw new SlipwayError('Usage', `${from} is no Ed25519 private key in PEM`, {
    nextStep: 'name the file that make release-key wrote',
    cause,
  })
}

/** For a release that nobody but its maker is to trust. */
export function throwAwayKey(): KeyObject {
  return generateKeyPairSync('ed25519').privateKey
}

export function publicHalf(key: KeyObject): string {
  return createPublicKey(key).export({ type: 'spki', format: 'pem' }).toString()
}
