// What a release says of itself: what is in it, and how it was made. The same release always says it in the same bytes.

import { createHash } from 'node:crypto'
import type { FileSum } from '../../core/signed-release/sums.ts'
import type { Component } from './components.ts'

export interface ReleaseSource {
  readonly version: string
  /** The commit. */
  readonly revision: string
  /** When that commit was made. */
  readonly committedAt: string
  /** Where the sources are published; undefined where package.json names no repository. */
  readonly repository: string | undefined
}

const project = (version: string) => ({
  type: 'application',
  'bom-ref': 'slipway',
  name: 'slipway',
  version,
  purl: `pkg:generic/slipway@${version}`,
  licenses: [{ license: { id: 'Apache-2.0' } }],
})

/** CycloneDX 1.6. */
export function sbomText({ version, committedAt }: ReleaseSource, components: readonly Component[]): string {
  const body = {
    version: 1,
    metadata: { timestamp: committedAt, component: project(version) },
    components: components.map(({ name, version: its, purl, licence, digest }) => ({
      type: purl.startsWith('pkg:npm/node-linux') ? 'platform' : 'library',
      'bom-ref': purl,
      name,
      version: its,
      purl,
      licenses: [/ (WITH|AND|OR) /.test(licence) ? { expression: licence } : { license: { id: licence } }],
      hashes: [{ alg: digest.algorithm === 'sha512' ? 'SHA-512' : 'SHA-256', content: digest.hex }],
    })),
    dependencies: [{ ref: 'slipway', dependsOn: components.map(({ purl }) => purl) }],
  }
  const serialNumber = `urn:uuid:${uuidOf(JSON.stringify(body))}`
  return document({
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber,
    ...body,
  })
}

export interface Making {
  readonly source: ReleaseSource
  readonly components: readonly Component[]
  readonly files: readonly FileSum[]
  readonly image: { readonly reference: string; readonly digest: string }
}

/** SLSA provenance, version 1, as an in-toto statement. */
export function provenanceText({ source, components, files, image }: Making): string {
  const { version, revision, repository } = source
  return document({
    _type: 'https://in-toto.io/Statement/v1',
    subject: files.map(({ name, sha256 }) => ({ name, digest: { sha256 } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'https://slipway.dev/build/make-release/v1',
        externalParameters: { version, revision },
        internalParameters: { image, node: process.version },
        resolvedDependencies: [
          { uri: repository === undefined ? 'git:slipway' : `git+${repository}`, digest: { gitCommit: revision } },
          ...components.map(({ purl, digest }) => ({ uri: purl, digest: { [digest.algorithm]: digest.hex } })),
        ],
      },
      runDetails: { builder: { id: 'https://slipway.dev/build/make-release' } },
    },
  })
}

function document(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`
}

/** A UUID (of the kind that anyone may define) from the content. */
function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)]
  return parts.join('-')
}
