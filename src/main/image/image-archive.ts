// An image as one file: an OCI layout. For one architecture it has Docker's own index beside it, so that containerd, Podman and
// Docker import it; for several it has an index of images, as registries keep them.

import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { type TarEntry, tar } from './tar.ts'

export interface Image {
  readonly name: string
  readonly tag: string
  /** As Kubernetes calls it: amd64, arm64. */
  readonly architecture: string
  readonly entrypoint: readonly string[]
  readonly env: readonly string[]
  /** Who runs it unless somebody says otherwise. */
  readonly user: string
  /** What it says of itself: `org.opencontainers.image.version` and the like. */
  readonly labels?: Readonly<Record<string, string>>
  /** The lowest first: what changes seldom comes first, so that hosts fetch little. */
  readonly layers: readonly (readonly TarEntry[])[]
}

interface Blob {
  readonly digest: string
  readonly content: Buffer
}

interface PackedImage {
  readonly architecture: string
  readonly config: Blob
  readonly manifest: Blob
  readonly layers: readonly Blob[]
}

export interface IndexedImage {
  readonly archive: Buffer
  /** Of its index: what a registry names it by. */
  readonly digest: string
}

/** The same at all times: an image is named by its content. */
const created = '1970-01-01T00:00:00Z'
const mediaType = 'application/vnd.oci.image'

export function imageArchive(image: Image): Buffer {
  const packed = pack(image)
  const top = { ...manifestDescriptor(packed), annotations: namesOf(image) }
  const docker = [
    { Config: blobPath(packed.config), RepoTags: [`${image.name}:${image.tag}`], Layers: packed.layers.map(blobPath) },
  ]
  return layout([top], blobsOf(packed), [file('manifest.json', Buffer.from(JSON.stringify(docker)))])
}

/** Of the same program for several architectures; their names and labels are those of the first. */
export function indexedImage(images: readonly [Image, ...Image[]]): IndexedImage {
  const [first] = images
  const packed = images.map(pack)
  const index = jsonBlob({
    ...emptyIndex,
    manifests: packed.map(manifestDescriptor),
    annotations: first.labels ?? {},
  })
  const top = { ...descriptor(index, 'index.v1+json'), annotations: namesOf(first) }
  return { archive: layout([top], [...packed.flatMap(blobsOf), index]), digest: `sha256:${index.digest}` }
}

const emptyIndex = { schemaVersion: 2, mediaType: `${mediaType}.index.v1+json` }

function pack({ architecture, entrypoint, env, user, labels = {}, layers }: Image): PackedImage {
  const plain = layers.map(tar)
  const packed = plain.map((layer) => blob(gzipSync(layer, { level: 6 })))
  const config = jsonBlob({
    created,
    architecture,
    os: 'linux',
    config: { User: user, Entrypoint: entrypoint, Env: env, WorkingDir: '/', Labels: labels },
    rootfs: { type: 'layers', diff_ids: plain.map((layer) => `sha256:${sha256(layer)}`) },
    history: plain.map(() => ({ created, created_by: 'slipway' })),
  })
  const manifest = jsonBlob({
    schemaVersion: 2,
    mediaType: `${mediaType}.manifest.v1+json`,
    config: descriptor(config, 'config.v1+json'),
    layers: packed.map((layer) => descriptor(layer, 'layer.v1.tar+gzip')),
    annotations: labels,
  })
  return { architecture, config, manifest, layers: packed }
}

function layout(manifests: readonly object[], blobs: readonly Blob[], others: readonly TarEntry[] = []): Buffer {
  return tar([
    file('oci-layout', Buffer.from(JSON.stringify({ imageLayoutVersion: '1.0.0' }))),
    file('index.json', Buffer.from(JSON.stringify({ ...emptyIndex, manifests }))),
    ...others,
    ...blobs.map((each) => file(blobPath(each), each.content)),
  ])
}

function manifestDescriptor({ manifest, architecture }: PackedImage) {
  return { ...descriptor(manifest, 'manifest.v1+json'), platform: { architecture, os: 'linux' } }
}

function namesOf({ name, tag }: Image): Readonly<Record<string, string>> {
  return {
    'io.containerd.image.name': `docker.io/library/${name}:${tag}`,
    'org.opencontainers.image.ref.name': tag,
  }
}

function blobsOf({ layers, config, manifest }: PackedImage): readonly Blob[] {
  return [...layers, config, manifest]
}

function file(path: string, content: Buffer): TarEntry {
  return { path, kind: 'file', mode: 0o644, content }
}

function jsonBlob(value: object): Blob {
  return blob(Buffer.from(JSON.stringify(value)))
}

function blob(content: Buffer): Blob {
  return { digest: sha256(content), content }
}

function blobPath({ digest }: Blob): string {
  return `blobs/sha256/${digest}`
}

function descriptor({ digest, content }: Blob, type: string) {
  return { mediaType: `${mediaType}.${type}`, digest: `sha256:${digest}`, size: content.length }
}

function sha256(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex')
}
