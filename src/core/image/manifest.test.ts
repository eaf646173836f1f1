import { describe, expect, it } from 'vitest'
import { bytesToFetch, readManifest } from './manifest.ts'
import { claimedDigest, signatureTag } from './signed-claim.ts'

const digest = (digit: string) => `sha256:${digit.repeat(64)}`
const layer = (digit: string, size: number) => ({
  mediaType: 'application/vnd.oci.image.layer.v1.tar+gzip',
  digest: digest(digit),
  size,
})
const image = (...layers: object[]) =>
  JSON.stringify({ schemaVersion: 2, config: { digest: digest('c'), size: 10 }, layers })

function manifestOf(text: string) {
  const read = readManifest(text, 'amd64')
  if (read.kind !== 'image') throw new Error(`it is ${read.kind}`)
  return read.manifest
}

describe('a manifest', () => {
  it('is an image’s', () => {
    expect(manifestOf(image(layer('1', 5))).layers[0]?.digest).toBe(digest('1'))
  })

  it('is a list of them, and ours is found', () => {
    const platform = (architecture: string) => ({ architecture, os: 'linux' })
    const index = JSON.stringify({
      schemaVersion: 2,
      manifests: [
        { digest: digest('a'), size: 1, platform: platform('arm64') },
        { digest: digest('b'), size: 1, platform: platform('amd64') },
      ],
    })
    expect(readManifest(index, 'amd64')).toEqual({ kind: 'index', instance: digest('b') })
    expect(readManifest(index, 's390x')).toEqual({ kind: 'index', instance: undefined })
  })

  it.each(['', '<html>', '{}', 'null'])('is not %j', (text) => {
    expect(readManifest(text, 'amd64')).toEqual({ kind: 'unknown' })
  })

  it('needs room for the layers that are not there yet', () => {
    const present = manifestOf(image(layer('1', 1000)))
    const wanted = manifestOf(image(layer('1', 1000), layer('2', 100)))
    expect(bytesToFetch(wanted, present)).toBe(250)
    expect(bytesToFetch(wanted, undefined)).toBe(2750)
    expect(bytesToFetch(present, wanted)).toBe(0)
  })
})

describe('a signed claim', () => {
  it('lies under a tag made from the digest', () => {
    expect(signatureTag(digest('1'))).toBe(`sha256-${'1'.repeat(64)}.sig`)
  })

  const claim = (part: object) =>
    JSON.stringify({
      critical: {
        identity: { 'docker-reference': 'quay.io/a/b' },
        image: { 'docker-manifest-digest': digest('1') },
        type: 'cosign container image signature',
        ...part,
      },
      optional: null,
    })

  it.each([
    ['an image', claim({}), digest('1')],
    ['another image', claim({ image: { 'docker-manifest-digest': digest('2') } }), digest('2')],
    ['something else', claim({ type: 'atomic container signature' }), undefined],
    ['nothing', '{}', undefined],
    ['no JSON', 'sha256', undefined],
  ])('speaks of %s', (_, text, expected) => {
    expect(claimedDigest(text)).toBe(expected)
  })
})
