// Signatures as cosign makes them with a key pair, laid beside an image: a claim under a tag made from its digest, or a bundle that
// refers to it. Debian's registry keeps no list of what refers to an image, so an index under another tag does.

import {
  bundleManifest,
  type CosignKey,
  cosignBundle,
  cosignClaim,
  cosignStatement,
  emptyConfig,
  makeCosignKey,
  referrersIndex,
} from '../../fakes/cosign-signer.ts'
import { sha256 } from '../content-key.ts'
import { json, manifestType, ociImage } from './oci-image.ts'
import type { PublishedImage } from './os-image.ts'
import type { Registry } from './registry.ts'

export type ImageKey = CosignKey

export function makeImageKey(): ImageKey {
  return makeCosignKey()
}

/** `claims` says what the payload speaks of; another image's digest makes a signature that is genuine but not this one's. */
export async function signImage(
  registry: Registry,
  image: PublishedImage,
  key: ImageKey,
  claims: { readonly digest: string } = image,
): Promise<void> {
  const { text, signature } = cosignClaim(key, claims.digest, `${registry.address}/${image.repository}`)
  const payload = Buffer.from(text)
  const config = json({ architecture: '', os: '', config: {}, rootfs: { type: 'layers', diff_ids: [sha256(payload)] } })
  const manifest = json({
    schemaVersion: 2,
    mediaType: manifestType,
    config: {
      mediaType: 'application/vnd.oci.image.config.v1+json',
      size: config.length,
      digest: sha256(config),
    },
    layers: [
      {
        mediaType: 'application/vnd.dev.cosign.simplesigning.v1+json',
        size: payload.length,
        digest: sha256(payload),
        annotations: { 'dev.cosignproject.cosign/signature': signature },
      },
    ],
  })
  const blobs = new Map([
    [sha256(config), config],
    [sha256(payload), payload],
  ])
  await registry.push(image.repository, `${image.digest.replace(':', '-')}.sig`, ociImage(manifest, blobs))
}

/** The same as cosign 3 does it. */
export async function signImageByBundle(
  registry: Registry,
  image: PublishedImage,
  key: ImageKey,
  claims: { readonly digest: string } = image,
): Promise<void> {
  const bundle = Buffer.from(cosignBundle(key, cosignStatement(claims.digest)))
  const config = Buffer.from(emptyConfig)
  const manifest = Buffer.from(bundleManifest(bundle.toString(), image.digest))
  const blobs = new Map([
    [sha256(config), config],
    [sha256(bundle), bundle],
  ])
  await registry.push(image.repository, sha256(manifest), ociImage(manifest, blobs))
  const index = Buffer.from(referrersIndex([{ digest: sha256(manifest), size: manifest.length }]))
  await registry.pushIndex(image.repository, image.digest.replace(':', '-'), index)
}
