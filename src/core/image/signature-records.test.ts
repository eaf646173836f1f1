import { describe, expect, it } from 'vitest'
import {
  bundleManifest,
  cosignBundle,
  cosignClaim,
  cosignKeyKinds,
  cosignStatement,
  digestOfText,
  makeCosignKey,
  verifiesWith,
} from '../../../test/fakes/cosign-signer.ts'
import {
  distrust,
  judgeRecord,
  readSignatureManifest,
  recordPlaces,
  type SignatureRecord,
  tooMuch,
} from './signature-records.ts'
import { signatureTag } from './signed-claim.ts'

const digest = (digit: string) => `sha256:${digit.repeat(64)}`
const [list, own, other] = [digest('1'), digest('2'), digest('3')]
const key = makeCosignKey()
const where = 'sha256:abc'

const claimOf = (named: string, signer = key): SignatureRecord => ({
  form: 'claim',
  where,
  ...cosignClaim(signer, named),
})
const bundleOf = (named: string, signer = key): SignatureRecord => ({
  form: 'bundle',
  where,
  text: cosignBundle(signer, cosignStatement(named)),
})
const verdictOn = (record: SignatureRecord, by = key) => judgeRecord(record, [list, own], verifiesWith(by))

describe.each([
  ['claim', claimOf],
  ['bundle', bundleOf],
] as const)('a %s', (_, recordOf) => {
  it.each([list, own])('of the image, or of the one for this host, holds: %s', (named) => {
    expect(verdictOn(recordOf(named))).toEqual({ kind: 'holds' })
  })

  it('of another image does not', () => {
    expect(verdictOn(recordOf(other))).toEqual({ kind: 'faulty', why: `speaks of another image, ${other}` })
  })

  it('by another key does not, whatever it speaks of', () => {
    const why = 'is not by os.verify.key, or was altered'
    expect(verdictOn(recordOf(list, makeCosignKey()))).toEqual({ kind: 'faulty', why })
    expect(verdictOn(recordOf(other, makeCosignKey()))).toEqual({ kind: 'faulty', why })
  })
})

describe('a bundle', () => {
  it.each(cosignKeyKinds)('by a key of the kind %s holds', (kind) => {
    const signer = makeCosignKey(kind)
    expect(verdictOn(bundleOf(list, signer), signer)).toEqual({ kind: 'holds' })
  })

  const altered = (part: object) =>
    verdictOn({
      form: 'bundle',
      where,
      text: cosignBundle(key, cosignStatement(other), { envelope: part }),
    })

  it('whose payload was exchanged does not hold', () => {
    const payload = Buffer.from(cosignStatement(list)).toString('base64')
    expect(altered({ payload })).toMatchObject({ why: expect.stringContaining('altered') })
  })

  it('whose signature is over the payload alone does not hold', () => {
    const bare = cosignClaim(key, list)
    const text = cosignBundle(key, bare.text, { envelope: { signatures: [{ sig: bare.signature }] } })
    expect(verdictOn({ form: 'bundle', where, text }).kind).toBe('faulty')
  })

  it('whose signature is over another payload type does not hold', () => {
    const envelope = { payloadType: 'application/vnd.in-toto+json' }
    const text = cosignBundle(key, cosignStatement(list), { type: 'application/json', envelope })
    expect(verdictOn({ form: 'bundle', where, text })).toMatchObject({ why: expect.stringContaining('altered') })
  })

  it('with a certificate says so where it is not by the key', () => {
    const bundle = { verificationMaterial: { certificate: { rawBytes: 'AAAA' } } }
    const text = cosignBundle(makeCosignKey(), cosignStatement(list), { bundle })
    expect(verdictOn({ form: 'bundle', where, text })).toMatchObject({ why: expect.stringContaining('certificate') })
  })

  it('that attests something is nobody’s signature, by our key too', () => {
    const text = cosignBundle(key, cosignStatement(list, { predicateType: 'https://spdx.dev/Document' }))
    expect(verdictOn({ form: 'bundle', where, text })).toEqual({ kind: 'foreign' })
  })
})

it.each(['{}', 'sha256', '{"critical":{"image":{},"type":"atomic container signature"}}'])(
  'a claim that is none does not hold: %s',
  (text) => {
    expect(verdictOn({ form: 'claim', where, text, signature: 'AA==' })).toEqual({
      kind: 'faulty',
      why: 'is no claim of cosign',
    })
  },
)

describe('a manifest of signatures', () => {
  const annotations = { 'dev.cosignproject.cosign/signature': 'c2ln' }
  const manifestOf = (...layers: readonly object[]) => {
    const manifest = readSignatureManifest(JSON.stringify({ schemaVersion: 2, layers }))
    if (!manifest) throw new Error('it is none')
    return manifest
  }
  const reasonFor = (...layers: readonly object[]) =>
    tooMuch(manifestOf(...layers), recordPlaces(manifestOf(...layers)))

  it('holds bundles and claims; the rest is passed over', () => {
    const layers = [
      { digest: list, size: 5, annotations },
      { digest: own, size: 5 },
    ]
    expect(recordPlaces(manifestOf(...layers))).toEqual([{ form: 'claim', digest: list, size: 5, signature: 'c2ln' }])
    const manifest = readSignatureManifest(bundleManifest('bundle', list))
    expect(manifest?.subject?.digest).toBe(list)
    expect(manifest && recordPlaces(manifest)).toEqual([{ form: 'bundle', digest: digestOfText('bundle'), size: 6 }])
  })

  it.each(['', '<html>', '{}', '{"layers":[{"digest":"sha256:../x","size":1}]}'])('is not %j', (text) => {
    expect(readSignatureManifest(text)).toBeUndefined()
  })

  it('is not fetched where it is too large for what it is', () => {
    const mediaType = 'application/vnd.dev.sigstore.bundle.v0.3+json'
    const claim = { digest: list, size: 300, annotations }
    expect(reasonFor(claim, { digest: own, size: 10_000, mediaType })).toBeUndefined()
    expect(reasonFor({ ...claim, size: 65_537 })).toContain('65537 bytes')
    expect(reasonFor({ digest: own, size: 10 ** 12, mediaType })).toContain('1000000000000 bytes')
    expect(reasonFor(claim, { digest: own, size: 10 ** 12 })).toContain('lies beside it')
    expect(reasonFor(...Array(65).fill(claim))).toContain('65 parts')
  })
})

describe('why an image is not trusted', () => {
  const image = { name: 'registry.example/os', digest: list }

  it('says where was looked when there is nothing', () => {
    const said = distrust(image, [])
    expect(said).toContain(`registry.example/os@${list} is not signed`)
    expect(said).toContain(signatureTag(list))
  })

  it('says what is wrong with each, and not with hundreds', () => {
    const faults = Array.from({ length: 300 }, (_, index) => ({ where: `s${index}`, why: 'is not by os.verify.key' }))
    const said = distrust(image, faults)
    expect(said).toContain('s0 is not by os.verify.key; s1')
    expect(said).toContain('296 more')
    expect(said.length).toBeLessThan(1000)
  })
})
