import { generateKeyPairSync } from 'node:crypto'
import { expect, test } from 'vitest'
import { keyIdOf, publicKey } from '../../adapters/signed-release/release-key.ts'
import { publicHalf, readSigningKey, signingKey, throwAwayKey } from './signing-key.ts'

test('a key comes back from its PEM, and its public half has the same id', () => {
  const key = throwAwayKey()
  const again = signingKey(key.export({ type: 'pkcs8', format: 'pem' }).toString(), 'KEY')
  expect(publicHalf(again)).toBe(publicHalf(key))
  expect(keyIdOf(publicKey(publicHalf(key)))).toBe(keyIdOf(key))
})

test.each([
  ['nothing', ''],
  ['a public half', publicHalf(throwAwayKey())],
  [
    'a key of another kind',
    generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  ],
])('%s signs nothing', (_what, pem) => {
  expect(() => signingKey(pem, 'KEY')).toThrow('KEY is no Ed25519 private key')
})

test('a file that is not there signs nothing', async () => {
  await expect(readSigningKey('/nowhere/key.pem')).rejects.toMatchObject({ code: 'Usage' })
})
