import { describe, expect, it } from 'vitest'
import { provenanceSchema, sbomSchema } from '../../api/signed-release.ts'
import { releaseFaults } from './release-faults.ts'

const [one, two] = ['1'.repeat(64), '2'.repeat(64)]

interface Changes {
  readonly sbomVersion?: string
  readonly component?: string
  readonly dependency?: string
  readonly subject?: string
}

function story({ sbomVersion = '1.0.0', component = one, dependency = one, subject = one }: Changes = {}) {
  const sums = ['slipway-1.0.0-image.tar', 'slipway-1.0.0-provenance.json'].map((name) => ({ name, sha256: one }))
  const sbom = sbomSchema.parse({
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    metadata: { component: { name: 'slipway', version: sbomVersion } },
    components: [{ purl: 'pkg:npm/x@1', hashes: [{ alg: 'SHA-512', content: component }] }],
  })
  const provenance = provenanceSchema.parse({
    _type: 'https://in-toto.io/Statement/v1',
    predicateType: 'https://slsa.dev/provenance/v1',
    subject: [{ name: 'slipway-1.0.0-image.tar', digest: { sha256: subject } }],
    predicate: {
      buildDefinition: {
        externalParameters: { version: '1.0.0', revision: 'c0ffee' },
        internalParameters: { image: { reference: 'slipway:1.0.0', digest: 'sha256:x' } },
        resolvedDependencies: [
          { uri: 'git:slipway', digest: { gitCommit: 'c0ffee' } },
          { uri: 'pkg:npm/x@1', digest: { sha512: dependency } },
        ],
      },
    },
  })
  return { sums, sbom, provenance }
}

describe('the files of a release', () => {
  it('tell the same story', () => {
    expect(releaseFaults(story())).toEqual([])
  })

  it.each([
    ['another version', { sbomVersion: '1.0.1' }, ['the SBOM is of version 1.0.1, the provenance of 1.0.0']],
    [
      'a file the build did not make',
      { subject: two },
      [
        'the provenance does not say that the build made slipway-1.0.0-image.tar',
        'the build made a file that is not here: slipway-1.0.0-image.tar',
      ],
    ],
    [
      'another part',
      { component: two },
      ['the SBOM does not list pkg:npm/x@1', 'the provenance does not tell of pkg:npm/x@1'],
    ],
    [
      'another input',
      { dependency: two },
      ['the SBOM does not list pkg:npm/x@1', 'the provenance does not tell of pkg:npm/x@1'],
    ],
  ])('are at odds: %s', (_what, changes, faults) => {
    expect(releaseFaults(story(changes))).toEqual(faults)
  })
})
