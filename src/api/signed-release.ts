// The files of a release that others read, too: what is in it (CycloneDX 1.6) and how it was made (SLSA provenance in an in-toto
// statement). Only what we write and check stands here; both may say more.

import { z } from 'zod'
import { sha256Text } from './scalars.ts'

export const sumsName = 'SHA256SUMS'
export const signatureName = 'SHA256SUMS.sig'

export const releaseFileNames = {
  sbom: (version: string) => `slipway-${version}-sbom.cdx.json`,
  provenance: (version: string) => `slipway-${version}-provenance.json`,
}

const componentSchema = z.looseObject({
  purl: z.string(),
  hashes: z.array(z.looseObject({ alg: z.enum(['SHA-256', 'SHA-512']), content: z.string() })).length(1),
})

export const sbomSchema = z.looseObject({
  bomFormat: z.literal('CycloneDX'),
  specVersion: z.literal('1.6'),
  metadata: z.looseObject({ component: z.looseObject({ name: z.literal('slipway'), version: z.string() }) }),
  components: z.array(componentSchema).min(1),
})

const digestSchema = z.partialRecord(z.enum(['sha256', 'sha512', 'gitCommit']), z.string())

export const provenanceSchema = z.looseObject({
  _type: z.literal('https://in-toto.io/Statement/v1'),
  predicateType: z.literal('https://slsa.dev/provenance/v1'),
  subject: z.array(z.strictObject({ name: z.string(), digest: z.strictObject({ sha256: sha256Text }) })).min(1),
  predicate: z.looseObject({
    buildDefinition: z.looseObject({
      externalParameters: z.looseObject({ version: z.string(), revision: z.string() }),
      internalParameters: z.looseObject({ image: z.strictObject({ reference: z.string(), digest: z.string() }) }),
      resolvedDependencies: z.array(z.looseObject({ uri: z.string(), digest: digestSchema })),
    }),
  }),
})

export type Sbom = z.infer<typeof sbomSchema>
export type Provenance = z.infer<typeof provenanceSchema>
