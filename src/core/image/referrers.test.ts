import { describe, expect, it } from 'vitest'
import { readReferrers, referrersTag, signatureReferrers } from './referrers.ts'

const digest = (digit: string) => `sha256:${digit.repeat(64)}`
const bundle = 'application/vnd.dev.sigstore.bundle.v0.3+json'
const predicate = (predicateType: string) => ({ 'dev.sigstore.bundle.predicateType': predicateType })

describe('what refers to an image', () => {
  it('is listed under a tag made from its digest', () => {
    expect(referrersTag(digest('1'))).toBe(`sha256-${'1'.repeat(64)}`)
  })

  it.each([
    ['{"manifests":[]}', []],
    ['{"manifests":null}', []],
    [JSON.stringify({ manifests: [{ digest: digest('1'), size: 3 }] }), [{ digest: digest('1') }]],
    ['{}', undefined],
    ['<html>', undefined],
  ])('is read: %s', (text, expected) => {
    expect(readReferrers(text)).toEqual(expected)
  })

  it.each([
    ['a bundle', { artifactType: bundle }, true],
    [
      'a bundle that says it is a signature',
      { artifactType: bundle, annotations: predicate('https://sigstore.dev/cosign/sign/v1') },
      true,
    ],
    ['a bundle as older versions list it', { artifactType: 'application/vnd.oci.empty.v1+json' }, true],
    ['claims', { artifactType: 'application/vnd.dev.cosign.artifact.sig.v1+json' }, true],
    ['what says nothing', {}, true],
    ['an attestation', { artifactType: bundle, annotations: predicate('https://slsa.dev/provenance/v1') }, false],
    ['an SBOM', { artifactType: 'application/spdx+json' }, false],
    ['another hash', { artifactType: bundle, digest: `sha512:${'1'.repeat(128)}` }, false],
    ['a path', { artifactType: bundle, digest: 'sha256:../../x' }, false],
  ])('may be a signature: %s', (_, part, expected) => {
    const one = { digest: digest('1'), ...part }
    expect(signatureReferrers([one, one])).toEqual(expected ? [one.digest] : [])
  })
})
