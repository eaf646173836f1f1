// How cosign lays signatures beside an image, as far as we read it: claims under a tag of their own, and Sigstore bundles in
// manifests that refer to the image. Foreign documents grow, so they are not strict; what we read of them is.

import { z } from 'zod'
import { imageDigest } from './os-image.ts'

/** protobuf's JSON has bytes in it: padded, and never empty where we read them. */
const bytesText = z.base64('is no base64').min(1, 'is empty')

const annotations = z.record(z.string(), z.string()).nullish()

const referrer = z.object({ digest: z.string().max(256), artifactType: z.string().nullish(), annotations })

/** What refers to a manifest: by the registry's own list, or by the index under a tag made from the digest. */
export const referrersSchema = z.object({ manifests: z.array(referrer).nullable() })

/** A manifest that holds signatures; the subject is what it refers to. */
export const signatureManifestSchema = z.object({
  subject: z.object({ digest: z.string().max(256) }).nullish(),
  layers: z.array(
    z.object({ mediaType: z.string().optional(), digest: imageDigest, size: z.int().min(0), annotations }),
  ),
})

/** Version 0.3, which is what lies in registries; written in either of its two ways. */
const bundleType =
  /^application\/vnd\.dev\.sigstore\.bundle(\.v0\.3(\.[0-9]{1,4})?\+json|\+json;version=0\.3(\.[0-9]{1,4})?)$/

export const sigstoreBundleSchema = z.object({
  mediaType: z.string().regex(bundleType, 'is no Sigstore bundle of version 0.3'),
  verificationMaterial: z.object({ certificate: z.object({}).nullish(), publicKey: z.object({}).nullish() }),
  dsseEnvelope: z
    .object({
      payload: bytesText,
      payloadType: z.string(),
      signatures: z.array(z.object({ sig: bytesText })).length(1, 'must be exactly one'),
    })
    .nullish(),
  messageSignature: z.object({}).nullish(),
})

/** What an in-toto statement is about; `_type` says how to read the rest. */
export const statementHeadSchema = z.object({ _type: z.string(), predicateType: z.string() })

/** What cosign signs of an image: that this one digest is what its signer meant. */
export const signStatementSchema = z.object({
  _type: z.literal('https://in-toto.io/Statement/v1'),
  subject: z
    .array(z.object({ digest: z.object({ sha256: z.string().regex(/^[0-9a-f]{64}$/, 'is no SHA-256') }) }))
    .length(1, 'must be exactly one'),
})

export type Referrer = z.infer<typeof referrer>
export type SignatureManifest = z.infer<typeof signatureManifestSchema>
