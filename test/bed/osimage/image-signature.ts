// Signatures as cosign makes them with a key pair: a simple-signing payload beside the image, under a tag made from its digest.

import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { sha256 } from '../content-key.ts'
import { json, manifestType, ociImage } from './oci-image.ts'
import type { PublishedImage } from './os-image.ts'
import type { Registry } from './registry.ts'

export interface ImageKey {
  /** PEM, as `cosign.pub` holds it. */
  readonly publicKey: string
  readonly privateKey: KeyObject
}

export function makeImageKey(): ImageKey {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return { publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString(), privateKey }
}

/** `claims` says what the payload speaks of; another image's digest makes a signature that is genuine but not this one's. */
export async function signImage(
  registry: Registry,
  image: PublishedImage,
  key: ImageKey,
  claims: { readonly digest: string } = image,
): Promise<void> {
  const payload = json({
    critical: {
      identity: { 'docker-reference': `${registry.address}/${image.repository}` },
      image: { 'docker-manifest-digest': claims.digest },
      type: 'cosign container image signature',
    },
    optional: null,
  })
  const signature = sign('sha256', payload, key.privateKey).toString('base64')
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
