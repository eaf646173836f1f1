// What image-based hosts and registries say, as far as we read it, and what the osimage driver remembers of an order. Foreign
// documents grow, so they are not strict; what we read of them is.

import { z } from 'zod'
import { instantText } from './scalars.ts'

export const imageDigest = z
  .string()
  .max(128)
  .regex(/^sha256:[0-9a-f]{64}$/, 'must be sha256: and 64 lower-case hexadecimal digits')

/** `rpm-ostree status --json`: the staged deployment comes first, the others in the order of the boot menu. */
export const rpmOstreeStatusSchema = z.object({
  deployments: z.array(
    z.object({
      osname: z.string(),
      checksum: z.string(),
      serial: z.int(),
      booted: z.boolean(),
      staged: z.boolean().optional(),
      version: z.string().nullish(),
      'container-image-reference': z.string().nullish(),
      'container-image-reference-digest': z.string().nullish(),
      'base-commit-meta': z.object({ 'ostree.manifest': z.string().optional() }).nullish(),
    }),
  ),
  transaction: z.array(z.string()).nullish(),
})

/** Of its three only two ask for anything: `insecure` is the third. */
const bootcSignature = z.union([z.object({ ostreeRemote: z.string() }), z.string()]).nullish()

const bootcEntry = z
  .object({
    image: z
      .object({
        image: z.object({ image: z.string(), transport: z.string(), signature: bootcSignature }),
        version: z.string().nullish(),
        imageDigest: z.string(),
      })
      .nullish(),
    ostree: z.object({ stateroot: z.string().nullish(), checksum: z.string(), deploySerial: z.int() }).nullish(),
  })
  .nullish()

/** `bootc status --json`, org.containers.bootc/v1 and its v1alpha1. */
export const bootcStatusSchema = z.object({
  kind: z.literal('BootcHost'),
  status: z.object({
    staged: bootcEntry,
    booted: bootcEntry,
    rollback: bootcEntry,
    rollbackQueued: z.boolean().optional(),
  }),
})

const descriptor = z.object({ digest: imageDigest, size: z.int().min(0) })

/** An image's manifest: OCI, or Docker schema 2. */
export const imageManifestSchema = z.object({
  config: descriptor,
  layers: z.array(descriptor),
})

/** One manifest for each platform. */
export const imageIndexSchema = z.object({
  manifests: z.array(
    descriptor.extend({ platform: z.object({ architecture: z.string(), os: z.string() }).optional() }),
  ),
})

/** What an image was made for, in its configuration. */
export const imageConfigSchema = z.object({
  architecture: z.string().min(1).max(64),
  os: z.string().min(1).max(64),
})

/** What ostree's engine writes there of the commit in an image, and where its layers end. */
export const commitConfigSchema = z.object({
  config: z.object({ Labels: z.record(z.string(), z.string()).nullish() }).nullish(),
  rootfs: z.object({ diff_ids: z.array(z.string()) }),
})

/** What cosign signs: a claim that this digest is what its signer meant. */
export const signedClaimSchema = z.object({
  critical: z.object({
    image: z.object({ 'docker-manifest-digest': imageDigest }),
    type: z.literal('cosign container image signature'),
  }),
})

/** How many manifests that may hold signatures a host is told of. */
export const signaturesAtMost = 32

/** What the operator found os.image to name, once for an operation. */
export const resolvedImageSchema = z.strictObject({
  image: z.string().max(512).describe('as the update has it'),
  reference: z.string().max(512).describe('the tag that was chosen, or the digest that was asked for'),
  digest: imageDigest,
  resolvedAt: instantText,
  instances: z
    .array(z.strictObject({ architecture: z.string().max(64), digest: imageDigest }))
    .max(32)
    .describe('the image for each architecture: what a host that has booted it shows'),
  signatures: z
    .array(imageDigest)
    .max(signaturesAtMost)
    .optional()
    .describe(
      'manifests that refer to it and may hold a signature, where os.verify wants one: the hosts look into them',
    ),
})

/** What the host's tools check themselves: containers-policy.json, or the keys of an ostree remote. */
export const imageTrustSchema = z.discriminatedUnion('by', [
  z.strictObject({ by: z.literal('Policy') }),
  z.strictObject({ by: z.literal('Remote'), remote: z.string() }),
])

const deploymentNote = z.strictObject({
  image: z.string().optional(),
  digest: imageDigest.optional(),
  version: z.string().optional(),
  trust: imageTrustSchema.optional(),
  stateroot: z.string(),
  checksum: z.string(),
  serial: z.int(),
})

/** A tag is never asked for a second time. What is booted is looked at again until the first step begins; from then on this stays. */
export const imagePlanSchema = z.strictObject({
  engine: z.enum(['rpm-ostree', 'bootc', 'ostree']),
  name: z.string().describe('registry/repository'),
  digest: imageDigest.describe('what the tag named, or the order itself: of the manifest, or of the list of them'),
  instance: imageDigest.describe('of the manifest for this host’s architecture: what the booted deployment shows'),
  unit: z.string().optional().describe('the unit of the kubelet that was active before'),
  before: deploymentNote.describe('the deployment that was booted when the work began'),
  trust: imageTrustSchema.optional().describe('what its origin will ask of this image and the next'),
})

/** It was fetched, and need not be again. */
export const imageFetchedSchema = z.strictObject({ digest: imageDigest })

/** Whether the host's tool was told to stage it. */
export const stagingBegunSchema = z.strictObject({ begun: z.literal(true) })

/** How often the machine was asked to boot into it. */
export const bootTriesSchema = z.strictObject({ tries: z.int().min(0) })

export type ResolvedImage = z.infer<typeof resolvedImageSchema>
export type ImagePlan = z.infer<typeof imagePlanSchema>
export type ImageTrust = z.infer<typeof imageTrustSchema>
export type ImageManifest = z.infer<typeof imageManifestSchema>
