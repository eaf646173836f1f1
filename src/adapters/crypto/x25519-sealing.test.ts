import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { x25519Sealing } from './x25519-sealing.ts'

const { newKeys, seal, open } = x25519Sealing

describe('sealing', () => {
  const keys = newKeys()

  test('gives any text back to the one it was sealed for', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(open(seal(text, keys.publicKey, 'a'), keys.privateKey, 'a')).toBe(text)
      }),
      { numRuns: 50 },
    )
  })

  test('shows nothing of the text, and never the same twice', () => {
    const [one, two] = [seal('swordfish', keys.publicKey, 'a'), seal('swordfish', keys.publicKey, 'a')]
    expect(one).not.toBe(two)
    expect(Buffer.from(one.slice(3), 'base64url').toString('latin1')).not.toContain('swordfish')
  })

  test('keys are 32 bytes, as NodeState has room for', () => {
    expect(Buffer.from(keys.publicKey, 'base64')).toHaveLength(32)
    expect(keys.publicKey.length).toBeLessThanOrEqual(64)
  })

  const sealed = seal('swordfish', keys.publicKey, 'Secret a/b')
  const flipped = (at: number) => {
    const bytes = Buffer.from(sealed.slice(3), 'base64url')
    bytes[at] = (bytes[at] ?? 0) ^ 1
    return `v1.${bytes.toString('base64url')}`
  }
  test.each([
    { what: 'another host', text: sealed, key: newKeys().privateKey, context: 'Secret a/b' },
    { what: 'another secret’s name', text: sealed, key: keys.privateKey, context: 'Secret a/c' },
    { what: 'a changed sender', text: flipped(3), key: keys.privateKey, context: 'Secret a/b' },
    { what: 'a changed nonce', text: flipped(35), key: keys.privateKey, context: 'Secret a/b' },
    { what: 'a changed text', text: flipped(46), key: keys.privateKey, context: 'Secret a/b' },
    { what: 'a cut text', text: sealed.slice(0, -4), key: keys.privateKey, context: 'Secret a/b' },
    { what: 'no text at all', text: '', key: keys.privateKey, context: 'Secret a/b' },
    { what: 'another format', text: `v2${sealed.slice(2)}`, key: keys.privateKey, context: 'Secret a/b' },
  ])('refuses $what', ({ text, key, context }) => {
    expect(() => open(text, key, context)).toThrow(expect.objectContaining({ code: 'SecretUnreadable' }))
  })
})
