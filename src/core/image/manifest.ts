import { type ImageManifest, imageIndexSchema, imageManifestSchema } from '../../api/os-image.ts'
import { jsonOf } from '../json-text.ts'

export type ReadManifest =
  | { readonly kind: 'image'; readonly manifest: ImageManifest }
  /** For several platforms; `instance` is the digest of ours, where it is there. */
  | { readonly kind: 'index'; readonly instance: string | undefined }
  | { readonly kind: 'unknown' }

export function readManifest(text: string, architecture: string): ReadManifest {
  const json = jsonOf(text)
  const index = imageIndexSchema.safeParse(json)
  if (index.success) {
    const ours = index.data.manifests.find(
      ({ platform }) => platform?.os === 'linux' && platform.architecture === architecture,
    )
    return { kind: 'index', instance: ours?.digest }
  }
  const image = imageManifestSchema.safeParse(json)
  return image.success ? { kind: 'image', manifest: image.data } : { kind: 'unknown' }
}

/** Layers lie packed in the registry and unpacked on the disk. */
const unpackedFactor = 2.5

/** An estimate of what must be free on the disk to fetch the image, given the manifest of the one that is there already. */
export function bytesToFetch(wanted: ImageManifest, present: ImageManifest | undefined): number {
  const have = new Set(present?.layers.map(({ digest }) => digest))
  const packed = wanted.layers.filter(({ digest }) => !have.has(digest)).reduce((sum, { size }) => sum + size, 0)
  return Math.ceil(packed * unpackedFactor)
}
