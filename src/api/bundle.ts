// What a bundle holds, as its first entry says: manifest.json.

import { z } from 'zod'
import { sha256Text } from './scalars.ts'

export const bundleFormat = 1

/** As Kubernetes, Debian and container images name them. */
export const bundleArchitectures = ['amd64', 'arm64', 'ppc64le', 's390x', 'riscv64'] as const

export const bundleManifestSchema = z.strictObject({
  format: z.literal(bundleFormat),
  architecture: z.enum(bundleArchitectures),
  /** In the order in which they follow. */
  files: z
    .array(z.strictObject({ path: z.string().min(1).max(255), bytes: z.int().min(0), sha256: sha256Text }))
    .min(1)
    .max(50_000),
})

/** Written when the images of the order's bundle are with the container runtime. */
export const bundleImagesSchema = z.strictObject({ imported: z.array(z.string().max(255)) })

export type BundleManifest = z.infer<typeof bundleManifestSchema>
export type BundleFile = BundleManifest['files'][number]
export type BundleArchitecture = BundleManifest['architecture']
