import { describe, expect, it } from 'vitest'
import { type BundleParts, cosignBundle, cosignStatement, makeCosignKey } from '../../../test/fakes/cosign-signer.ts'
import { preAuthEncoding, readBundle } from './signed-bundle.ts'

const digest = (digit: string) => `sha256:${digit.repeat(64)}`
const key = makeCosignKey()
const bundle = (part: object = {}, parts: BundleParts = {}) =>
  cosignBundle(key, cosignStatement(digest('1'), part), parts)
const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

describe('what DSSE signs', () => {
  it('is the type and the content with their lengths', () => {
    const signed = preAuthEncoding('http://example.com/HelloWorld', new TextEncoder().encode('hello world'))
    expect(text(signed)).toBe('DSSEv1 29 http://example.com/HelloWorld 11 hello world')
  })

  it('counts bytes, and keeps those that are no text', () => {
    expect([...preAuthEncoding('ü', Uint8Array.of(0xff, 0x00))]).toEqual([
      ...new TextEncoder().encode('DSSEv1 2 ü 2 '),
      ...[0xff, 0x00],
    ])
  })
})

describe('a bundle', () => {
  it('is a signature of the image its statement names', () => {
    const payload = cosignStatement(digest('1'))
    expect(readBundle(cosignBundle(key, payload))).toMatchObject({
      kind: 'signature',
      digest: digest('1'),
      withCertificate: false,
      signed: preAuthEncoding('application/vnd.in-toto+json', new TextEncoder().encode(payload)),
    })
  })

  it.each(['application/vnd.dev.sigstore.bundle.v0.3+json', 'application/vnd.dev.sigstore.bundle+json;version=0.3'])(
    'may call itself %s',
    (mediaType) => {
      expect(readBundle(bundle({}, { bundle: { mediaType } })).kind).toBe('signature')
    },
  )

  it('of another predicate is an attestation, whoever made it', () => {
    expect(readBundle(bundle({ predicateType: 'https://slsa.dev/provenance/v1' }))).toEqual({ kind: 'foreign' })
  })

  const cases: readonly [string, string, string][] = [
    ['nothing', '', 'is no bundle'],
    ['no JSON', '<html>', 'is no bundle'],
    [
      'an older form',
      bundle({}, { bundle: { mediaType: 'application/vnd.dev.sigstore.bundle+json;version=0.1' } }),
      '0.3',
    ],
    ['a newer form', bundle({}, { bundle: { mediaType: 'application/vnd.dev.sigstore.bundle.v0.4+json' } }), '0.3'],
    ['no key material', bundle({}, { bundle: { verificationMaterial: undefined } }), 'verificationMaterial'],
    ['a message signature', bundle({}, { bundle: { dsseEnvelope: undefined, messageSignature: {} } }), 'no envelope'],
    ['both', bundle({}, { bundle: { messageSignature: {} } }), 'too much'],
    ['another payload type', bundle({}, { type: 'application/json' }), 'application/json instead of'],
    ['no signature', bundle({}, { envelope: { signatures: [] } }), 'signatures: must be exactly one'],
    ['two signatures', bundle({}, { envelope: { signatures: [{ sig: 'AA==' }, { sig: 'AA==' }] } }), 'exactly one'],
    ['an empty signature', bundle({}, { envelope: { signatures: [{ sig: '' }] } }), 'sig: is empty'],
    ['a signature in wrong base64', bundle({}, { envelope: { signatures: [{ sig: 'A*==' }] } }), 'is no base64'],
    ['a payload in wrong base64', bundle({}, { envelope: { payload: 'e30' } }), 'payload: is no base64'],
    ['a payload for addresses', bundle({}, { envelope: { payload: 'e_-_' } }), 'payload: is no base64'],
    ['a payload that is no JSON', bundle({}, { envelope: { payload: 'AAAA' } }), 'no in-toto statement'],
    ['an older statement', bundle({ _type: 'https://in-toto.io/Statement/v0.1' }), '_type'],
    ['no subject', bundle({ subject: [] }), 'subject: must be exactly one'],
    ['two subjects', bundle({ subject: Array(2).fill({ digest: { sha256: '1'.repeat(64) } }) }), 'exactly one'],
    ['a subject by another hash', bundle({ subject: [{ digest: { sha512: '1'.repeat(128) } }] }), 'sha256'],
    ['a subject in capitals', bundle({ subject: [{ digest: { sha256: 'A'.repeat(64) } }] }), 'is no SHA-256'],
  ]

  it.each(cases)('with %s is not read', (_, given, says) => {
    expect(readBundle(given)).toMatchObject({ kind: 'unreadable', why: expect.stringContaining(says) })
  })
})
