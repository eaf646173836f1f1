// X25519 with a fresh key for each text, HKDF-SHA256, AES-256-GCM: node:crypto only. The text is
// `v1.` and base64url of the fresh public key, the nonce, the ciphertext and its tag.

import {
  createCipheriv,
  createDecipheriv,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto'
import { SlipwayError } from '../../api/slipway-error.ts'
import type { Sealing } from '../../ports/sealing.ts'

const version = 'v1.'
const keyBytes = 32
const nonceBytes = 12
const tagBytes = 16
const cipher = 'aes-256-gcm'
// The fixed DER in front of the 32 bytes of an X25519 key (RFC 8410).
const publicPrefix = Buffer.from('302a300506032b656e032100', 'hex')
const privatePrefix = Buffer.from('302e020100300506032b656e04220420', 'hex')

export const x25519Sealing: Sealing = {
  newKeys: () => {
    const { publicKey, privateKey } = generateKeyPairSync('x25519')
    return {
      publicKey: rawPublic(publicKey).toString('base64'),
      privateKey: rawPrivate(privateKey).toString('base64'),
    }
  },
  seal: (plain, publicKey, context) => {
    const recipient = Buffer.from(publicKey, 'base64')
    const fresh = generateKeyPairSync('x25519')
    const own = rawPublic(fresh.publicKey)
    const shared = diffieHellman({ privateKey: fresh.privateKey, publicKey: publicKeyOf(recipient) })
    const nonce = randomBytes(nonceBytes)
    const encrypt = createCipheriv(cipher, derive(shared, own, recipient), nonce).setAAD(Buffer.from(context))
    const body = Buffer.concat([encrypt.update(plain, 'utf8'), encrypt.final()])
    return version + Buffer.concat([own, nonce, body, encrypt.getAuthTag()]).toString('base64url')
  },
  open: (sealed, privateKey, context) => {
    try {
      return unseal(sealed, privateKey, context)
    } catch (cause) {
      throw new SlipwayError('SecretUnreadable', `${context} was not sealed for this host, or was changed on the way`, {
        nextStep: 'change the Secret or the profile, so that it is sealed again',
        cause,
      })
    }
  },
}

function unseal(sealed: string, privateKey: string, context: string): string {
  const bytes = Buffer.from(sealed.slice(version.length), 'base64url')
  if (!sealed.startsWith(version) || bytes.length < keyBytes + nonceBytes + tagBytes)
    throw new Error('is no sealed text')
  const sender = bytes.subarray(0, keyBytes)
  const nonce = bytes.subarray(keyBytes, keyBytes + nonceBytes)
  const key = createPrivateKey({
    key: Buffer.concat([privatePrefix, Buffer.from(privateKey, 'base64')]),
    format: 'der',
    type: 'pkcs8',
  })
  const shared = diffieHellman({ privateKey: key, publicKey: publicKeyOf(sender) })
  const decrypt = createDecipheriv(cipher, derive(shared, sender, rawPublic(createPublicKey(key))), nonce)
    .setAAD(Buffer.from(context))
    .setAuthTag(bytes.subarray(-tagBytes))
  const body = bytes.subarray(keyBytes + nonceBytes, -tagBytes)
  return Buffer.concat([decrypt.update(body), decrypt.final()]).toString('utf8')
}

/** Both public keys are part of it: a key is good for one sender, one recipient and one text. */
function derive(shared: Buffer, sender: Buffer, recipient: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', shared, Buffer.concat([sender, recipient]), 'slipway sealing v1', keyBytes))
}

function publicKeyOf(raw: Buffer): KeyObject {
  return createPublicKey({ key: Buffer.concat([publicPrefix, raw]), format: 'der', type: 'spki' })
}

function rawPublic(key: KeyObject): Buffer {
  return key.export({ format: 'der', type: 'spki' }).subarray(-keyBytes)
}

function rawPrivate(key: KeyObject): Buffer {
  return key.export({ format: 'der', type: 'pkcs8' }).subarray(-keyBytes)
}
