// What an order asks of a host, and the parts of it that users write themselves in a DirectUpdate.

import { z } from 'zod'
import { celRules } from './cel-rule.ts'
import { imageDigest, signaturesAtMost } from './os-image.ts'
import {
  absolutePath,
  kubernetesVersion,
  kubernetesWish,
  objectName,
  sha256Text,
  shapedText,
  unitName,
  webAddress,
} from './scalars.ts'

/** Content by its SHA-256: a script, or a host's desired state. */
export const contentSchema = z.strictObject({
  configMap: objectName.describe('an immutable ConfigMap in the operator’s namespace; its key "script" is the content'),
  namespace: objectName,
  sha256: sha256Text,
})

export const components = ['kubeadm', 'kubelet', 'kubectl', 'containerd', 'etcd'] as const

export const kubeadmOptionsSchema = z.strictObject({
  ignorePreflightErrors: z
    .array(z.string().min(1).max(64))
    .max(32)
    .optional()
    .describe('names of kubeadm’s own preflight checks'),
  patches: absolutePath.optional().describe('a folder on the host with kubeadm patches'),
  certificateRenewal: z.boolean().optional().describe('renew the control plane’s certificates. Default true'),
})

export const kubernetesWorkSchema = z.strictObject({
  version: kubernetesVersion,
  components: z
    .array(z.enum(components))
    .min(1)
    .max(components.length)
    .optional()
    .describe(
      'Default kubeadm, kubelet, kubectl. containerd: the newest on offer; etcd: a host-service etcd, a static-pod etcd follows kubeadm',
    ),
  kubeadm: kubeadmOptionsSchema.optional(),
})

export const workersChoices = ['Once', 'EachStep'] as const

/** The same as a person writes it: which version may be left to what is on offer. */
export const kubernetesWishSchema = kubernetesWorkSchema.extend({
  version: kubernetesWish,
  workers: z
    .enum(workersChoices)
    .optional()
    .describe(
      'over several minor versions: workers go straight to the target (Once, default; earlier only where they would be more than three minor versions behind) or along at each step (EachStep)',
    ),
})

export const osWorkSchema = z.strictObject({
  image: z
    .string()
    .min(1)
    .max(512)
    .optional()
    .describe(
      'image-based hosts: registry/name:tag or registry/name@sha256:…; a tag is resolved once. In a DirectUpdate a tag may hold *: the newest that matches',
    ),
  verify: z
    .strictObject({
      key: z
        .string()
        .min(1)
        .max(8192)
        .describe(
          'PEM public key of a cosign key pair; or an armoured GPG public key, for an image that is one signed ostree commit without layers above it',
        ),
      signatures: z
        .array(imageDigest)
        .max(signaturesAtMost)
        .optional()
        .describe(
          'sha256:… of manifests that hold signatures: where to look, beside the tags made from the digest of the image. The operator adds those the registry lists; name them where os.resolve is Host and the registry keeps the list itself',
        ),
    })
    .optional()
    .describe('the image must be signed with this key; unsigned is then refused'),
  packages: z.enum(['Security', 'All']).optional().describe('package-based hosts: which packages to upgrade'),
})

export const resolveChoices = ['Operator', 'Host'] as const
const needsImage = 'os.resolve says who looks os.image up: name an image, or leave it out'
const needsTag = 'a tag with * is looked up by the operator: leave os.resolve out, or name one tag'

/** As a person writes it; a host is given one image. */
export const osWishSchema = osWorkSchema
  .extend({
    resolve: z
      .enum(resolveChoices)
      .optional()
      .describe(
        'who asks the registry what the tag names. Operator: once, before any node is touched, and every host gets that digest. Host: each host for itself, where the operator cannot reach the registry. Default Operator',
      ),
  })
  .refine(({ resolve, image }) => resolve === undefined || image !== undefined, needsImage)
  .refine(({ resolve, image }) => resolve !== 'Host' || !image?.includes('*'), needsTag)
  .meta(
    celRules(
      { rule: '!has(self.resolve) || has(self.image)', message: needsImage },
      {
        rule: "!has(self.resolve) || self.resolve != 'Host' || !has(self.image) || !self.image.contains('*')",
        message: needsTag,
      },
    ),
  )

export const binaryWorkSchema = z.strictObject({
  name: z.string().min(1).max(64),
  url: webAddress,
  sha256: sha256Text,
  path: absolutePath,
  restart: z.array(unitName).max(8).optional().describe('systemd units that run it'),
  versionArguments: z
    .array(z.string().max(64))
    .max(4)
    .optional()
    .describe('arguments that make it print its version. Default --version'),
})

export const rebootChoices = ['IfRequired', 'Always', 'Never'] as const
export const rollbackChoices = ['Image', 'All', 'Never'] as const

export const bundleSchema = z.strictObject({
  url: shapedText(
    1024,
    '(https?://|/)[^/ ][^ ]*',
    'must be https://…, or the absolute path of a bundle that lies on every host',
  ).describe('https://…, or the absolute path of a bundle that lies on every host'),
  sha256: sha256Text,
})

/** For programs that look for a file to know that a host is done. */
export const stampsSchema = z.array(absolutePath).min(1).max(4)

export const maxJobs = 12

/** A maintenance job as it runs on a host. */
export const jobWorkSchema = z.strictObject({
  name: objectName,
  script: contentSchema.optional(),
  url: webAddress.optional(),
  sha256: sha256Text,
  validate: contentSchema.optional(),
})

export const maintenanceWorkSchema = z.strictObject({
  required: absolutePath,
  inProgress: absolutePath,
})

export const workSchema = z
  .strictObject({
    bundle: bundleSchema.optional().describe('packages and images come from here only; nothing else is contacted'),
    profile: z
      .strictObject({
        profiles: z.array(objectName).max(32).describe('the NodeProfiles it was computed from'),
        desired: contentSchema.describe('the host’s whole desired state, as JSON'),
        undrained: z
          .strictObject({ mayDisturb: z.array(objectName).max(32).describe('the profiles with disruption None') })
          .optional()
          .describe(
            'the node stays at work: what disturbs it is put right only where one of these profiles wants it, else the order ends with DrainNeeded. Absent: the node is drained',
          ),
      })
      .optional(),
    jobs: z.array(jobWorkSchema).max(maxJobs).optional(),
    script: contentSchema.extend({ validate: contentSchema.optional() }).optional(),
    os: osWorkSchema.optional(),
    kubernetes: kubernetesWorkSchema.optional(),
    binary: binaryWorkSchema.optional(),
    maintenance: maintenanceWorkSchema.optional(),
    reboot: z.enum(rebootChoices).optional(),
    stamps: stampsSchema.optional(),
  })
  .describe(
    'what the agent does, in this order: profile, jobs, script, os packages, kubernetes, os image, binary, maintenance, reboot, stamps',
  )

export type Content = z.infer<typeof contentSchema>
export type Component = (typeof components)[number]
export type KubernetesWork = z.infer<typeof kubernetesWorkSchema>
export type KubernetesWish = z.infer<typeof kubernetesWishSchema>
export type OsWork = z.infer<typeof osWorkSchema>
export type BinaryWork = z.infer<typeof binaryWorkSchema>
export type JobWork = z.infer<typeof jobWorkSchema>
export type Work = z.infer<typeof workSchema>
