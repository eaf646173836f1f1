// OCI images as the bed makes them: read from a layout, and one layer put on top.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { z } from 'zod'
import { sha256 } from '../content-key.ts'

const descriptorShape = z.looseObject({ mediaType: z.string(), digest: z.string(), size: z.number() })
const indexShape = z.object({ manifests: z.tuple([descriptorShape], descriptorShape) })
const manifestShape = z.looseObject({
  config: descriptorShape,
  layers: z.array(descriptorShape),
  annotations: z.record(z.string(), z.string()).optional(),
})
const configShape = z.looseObject({
  config: z.looseObject({ Labels: z.record(z.string(), z.string()).optional() }).optional(),
  rootfs: z.looseObject({ diff_ids: z.array(z.string()) }),
  history: z.array(z.unknown()).optional(),
})

export const manifestType = 'application/vnd.oci.image.manifest.v1+json'
export const indexType = 'application/vnd.oci.image.index.v1+json'
const gzipLayerType = 'application/vnd.oci.image.layer.v1.tar+gzip'
/** The same for every image, so that the same content has the same digest in each run. */
const created = '2026-01-01T00:00:00Z'

/** A manifest and all it names; a blob is held here, or in a file. */
export interface OciImage {
  readonly manifest: Buffer
  readonly digest: string
  readonly blobs: ReadonlyMap<string, Buffer | { readonly file: string }>
}

export function ociImage(manifest: Buffer, blobs: OciImage['blobs']): OciImage {
  return { manifest, digest: sha256(manifest), blobs }
}

/** The image of a layout with one more layer, under a version of its own. */
export async function withLayer(layout: string, version: string, tar: Buffer): Promise<OciImage> {
  const fileOf = (digest: string) => join(layout, 'blobs', ...digest.split(':'))
  const read = async (path: string): Promise<unknown> => JSON.parse(await readFile(path, 'utf8'))
  const index = indexShape.parse(await read(join(layout, 'index.json')))
  const manifest = manifestShape.parse(await read(fileOf(index.manifests[0].digest)))
  const config = configShape.parse(await read(fileOf(manifest.config.digest)))

  const layer = gzipSync(tar, { level: 1 })
  const labels = { ...config.config?.Labels, 'org.opencontainers.image.version': version, version }
  const newConfig = json({
    ...config,
    created,
    config: { ...config.config, Labels: labels },
    rootfs: { ...config.rootfs, diff_ids: [...config.rootfs.diff_ids, sha256(tar)] },
    history: [...(config.history ?? []), { created, created_by: `the layer of ${version}` }],
  })
  const newManifest = json({
    ...manifest,
    config: { ...manifest.config, digest: sha256(newConfig), size: newConfig.length },
    layers: [...manifest.layers, { mediaType: gzipLayerType, digest: sha256(layer), size: layer.length }],
    ...(manifest.annotations === undefined
      ? {}
      : { annotations: { ...manifest.annotations, 'org.opencontainers.image.version': version } }),
  })
  const blobs = new Map<string, Buffer | { file: string }>(
    manifest.layers.map(({ digest }) => [digest, { file: fileOf(digest) }]),
  )
  blobs.set(sha256(layer), layer).set(sha256(newConfig), newConfig)
  return ociImage(newManifest, blobs)
}

/** The image of a layout, with other labels over its own: what they say need not be true. */
export async function relabelled(layout: string, others: Readonly<Record<string, string>> = {}): Promise<OciImage> {
  const fileOf = (digest: string) => join(layout, 'blobs', ...digest.split(':'))
  const read = async (path: string): Promise<unknown> => JSON.parse(await readFile(path, 'utf8'))
  const index = indexShape.parse(await read(join(layout, 'index.json')))
  const manifest = manifestShape.parse(await read(fileOf(index.manifests[0].digest)))
  const config = configShape.parse(await read(fileOf(manifest.config.digest)))
  const newConfig = json({ ...config, config: { ...config.config, Labels: { ...config.config?.Labels, ...others } } })
  const newManifest = json({
    ...manifest,
    config: { ...manifest.config, digest: sha256(newConfig), size: newConfig.length },
  })
  const layers = manifest.layers.map(({ digest }): [string, { file: string }] => [digest, { file: fileOf(digest) }])
  return ociImage(newManifest, new Map<string, Buffer | { file: string }>([...layers, [sha256(newConfig), newConfig]]))
}

export function json(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value))
}
