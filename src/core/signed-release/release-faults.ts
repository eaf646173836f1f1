// Whether the files of a release tell the same story: every file made by that build, every part of it listed with its digest.

import { type Provenance, releaseFileNames, type Sbom } from '../../api/signed-release.ts'
import type { FileSum } from './sums.ts'

export interface ReleaseStory {
  readonly sums: readonly FileSum[]
  readonly sbom: Sbom
  readonly provenance: Provenance
}

export function releaseFaults({ sums, sbom, provenance }: ReleaseStory): readonly string[] {
  const { externalParameters, resolvedDependencies } = provenance.predicate.buildDefinition
  const { version } = externalParameters
  const told = sbom.metadata.component.version
  const made = sums.filter(({ name }) => name !== releaseFileNames.provenance(version))
  const subjects = provenance.subject.map(({ name, digest }) => `${name} ${digest.sha256}`)
  const parts = sbom.components.map(({ purl, hashes }) => `${purl} ${hashes[0]?.content}`)
  const inputs = resolvedDependencies.flatMap(({ uri, digest }) =>
    digest.gitCommit === undefined ? [`${uri} ${digest.sha512 ?? digest.sha256}`] : [],
  )
  return [
    ...(told === version ? [] : [`the SBOM is of version ${told}, the provenance of ${version}`]),
    ...missing(
      made.map(({ name, sha256 }) => `${name} ${sha256}`),
      subjects,
      'the provenance does not say that the build made',
    ),
    ...missing(
      subjects,
      sums.map(({ name, sha256 }) => `${name} ${sha256}`),
      'the build made a file that is not here:',
    ),
    ...missing(inputs, parts, 'the SBOM does not list'),
    ...missing(parts, inputs, 'the provenance does not tell of'),
  ]
}

function missing(wanted: readonly string[], there: readonly string[], words: string): readonly string[] {
  const known = new Set(there)
  return wanted.filter((each) => !known.has(each)).map((each) => `${words} ${each.split(' ')[0]}`)
}
