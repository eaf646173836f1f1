// What an image-based host says it has booted.

import { z } from 'zod'
import type { HostFacts } from '../../../ports/host.ts'

export type BootedImage = NonNullable<HostFacts['osImage']>

const rpmOstreeSchema = z.object({
  deployments: z.array(
    z.object({
      booted: z.boolean().optional(),
      checksum: z.string(),
      version: z.string().nullish(),
      origin: z.string().nullish(),
      'container-image-reference': z.string().nullish(),
      'container-image-reference-digest': z.string().nullish(),
    }),
  ),
})

const bootcSchema = z.object({
  status: z.object({
    booted: z
      .object({
        image: z
          .object({
            image: z.object({ image: z.string() }),
            version: z.string().nullish(),
            imageDigest: z.string(),
          })
          .nullish(),
      })
      .nullish(),
  }),
})

/** `rpm-ostree status --json` */
export function bootedByRpmOstree(json: string): BootedImage | undefined {
  const booted = rpmOstreeSchema.parse(JSON.parse(json)).deployments.find((deployment) => deployment.booted === true)
  if (!booted) return undefined
  const reference = booted['container-image-reference']
  return image(
    reference ? plainReference(reference) : (booted.origin ?? ''),
    booted['container-image-reference-digest'] ?? booted.checksum,
    booted.version,
  )
}

/** `bootc status --json` */
export function bootedByBootc(json: string): BootedImage | undefined {
  const found = bootcSchema.parse(JSON.parse(json)).status.booted?.image
  return found ? image(found.image.image, found.imageDigest, found.version) : undefined
}

/** How an image is trusted and transported stands before its name: `ostree-unverified-registry:quay.io/…`. */
function plainReference(reference: string): string {
  return reference
    .replace(/^ostree-(?:unverified|image-signed|remote-(?:image|registry):[^:]*)(?:-image|-registry)?:/, '')
    .replace(/^(?:docker:\/\/|registry:)/, '')
}

function image(name: string, digest: string, version: string | null | undefined): BootedImage {
  return { image: name.slice(0, 512), digest: digest.slice(0, 128), ...(version && { version: version.slice(0, 128) }) }
}
