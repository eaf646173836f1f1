import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { keyPairSignatures } from './key-pair-signatures.ts'

const pem = (key: KeyObject) => key.export({ type: 'spki', format: 'pem' }).toString()
const text = '{"critical":{"type":"cosign container image signature"}}'

const pairs = {
  ecdsa: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  rsa: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  ed25519: () => generateKeyPairSync('ed25519'),
}

describe.each(Object.entries(pairs))('%s', (kind, make) => {
  const { publicKey, privateKey } = make()
  const signature = sign(kind === 'ed25519' ? null : 'sha256', Buffer.from(text), privateKey).toString('base64')

  it('is a key, and its own signature holds', () => {
    expect(keyPairSignatures.isPublicKey(pem(publicKey))).toBe(true)
    expect(keyPairSignatures.verify(pem(publicKey), text, signature)).toBe(true)
  })

  it.each([
    ['another text', pem(publicKey), `${text} `, signature],
    ['another key', pem(make().publicKey), text, signature],
    ['no signature', pem(publicKey), text, ''],
    ['something else', pem(publicKey), text, 'bm8gc2lnbmF0dXJl'],
    ['no key', 'no key', text, signature],
  ])('%s does not hold', (_, key, signed, given) => {
    expect(keyPairSignatures.verify(key, signed, given)).toBe(false)
  })
})

it.each([
  ['P-384', 'sha384', 'sha512'],
  ['P-521', 'sha512', 'sha384'],
])('%s signs over %s in bundles and over SHA-256 in claims', (namedCurve, fitting, unfitting) => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve })
  const holds = (hash: string) => {
    const signature = sign(hash, Buffer.from(text), privateKey).toString('base64')
    return keyPairSignatures.verify(pem(publicKey), Buffer.from(text), signature)
  }
  expect([fitting, 'sha256', unfitting].map(holds)).toEqual([true, true, false])
})

it('bytes that are no text are checked as they are', () => {
  const { publicKey, privateKey } = pairs.ecdsa()
  const signature = sign('sha256', Uint8Array.of(0xff), privateKey).toString('base64')
  expect(keyPairSignatures.verify(pem(publicKey), Uint8Array.of(0xff), signature)).toBe(true)
  expect(keyPairSignatures.verify(pem(publicKey), Uint8Array.of(0xfe), signature)).toBe(false)
})

it.each([
  ['empty', ''],
  ['a broken one', '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n'],
  ['a GPG key', '-----BEGIN PGP PUBLIC KEY BLOCK-----\n'],
  ['a private key', generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()],
  ['a key for exchange only', pem(generateKeyPairSync('x25519').publicKey)],
])('%s is no public key', (_, key) => {
  expect(keyPairSignatures.isPublicKey(key)).toBe(false)
})
