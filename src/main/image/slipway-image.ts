// What every image of ours says of itself and starts.

import type { Image } from './image-archive.ts'
import { nonRoot } from './image-files.ts'

export function slipwayImage(
  version: string,
  image: Pick<Image, 'architecture' | 'layers'> & { readonly labels?: Readonly<Record<string, string>> },
): Image {
  return {
    name: 'slipway',
    tag: version,
    entrypoint: ['node', '/opt/slipway/slipway.mjs'],
    env: ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'],
    user: `${nonRoot}:${nonRoot}`,
    ...image,
    labels: {
      'org.opencontainers.image.title': 'slipway',
      'org.opencontainers.image.version': version,
      'org.opencontainers.image.licenses': 'Apache-2.0',
      ...image.labels,
    },
  }
}
