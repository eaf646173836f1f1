// An image as one file that containerd, Podman and Docker import: an OCI layout, with Docker's own index beside it.

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
  /** The lowest first: what changes seldom comes first, so that hosts fetch little. */
  readonly layers: readonly (readonly TarEntry[])[]
}

interface Blob {
  readonly digest: string
  readonly content: Buffer
}

/** The same at all times: an image is named by its content. */
const created = '1970-01-01T00:00:00Z'
const mediaType = 'application/vnd.oci.image'

export function imageArchive({ name, tag, architecture, entrypoint, env, layers }: Image): Buffer {
  const plain = layers.map(tar)
  const packed = plain.map((layer) => blob(gzipSync(layer, { level: 6 })))
  const config = jsonBlob({
    created,
    architecture,
    os: 'linux',
    config: { Entrypoint: entrypoint, Env: env, WorkingDir: '/' },
    rootfs: { type: 'layers', diff_ids: plain.map((layer) => `sha256:${sha256(layer)}`) },
    history: plain.map(() => ({ created, created_by: 'make image' })),
  })
  const manifest = jsonBlob({
    schemaVersion: 2,
    mediaType: `${mediaType}.manifest.v1+json`,
    config: descriptor(config, 'config.v1+json'),
    layers: packed.map((layer) => descriptor(layer, 'layer.v1.tar+gzip')),
  })
  const index = {
    schemaVersion: 2,
    mediaType: `${mediaType}.index.v1+json`,
    manifests: [
      {
        ...descriptor(manifest, 'manifest.v1+json'),
        platform: { architecture, os: 'linux' },
        annotations: {
          'io.containerd.image.name': `docker.io/library/${name}:${tag}`,
          'org.opencontainers.image.ref.name': tag,
        },
      },
    ],
  }
  const docker = [{ Config: blobPath(config), RepoTags: [`${name}:${tag}`], Layers: packed.map(blobPath) }]
  return tar([
    file('oci-layout', Buffer.from(JSON.stringify({ imageLayoutVersion: '1.0.0' }))),
    file('index.json', Buffer.from(JSON.stringify(index))),
    file('manifest.json', Buffer.from(JSON.stringify(docker))),
    ...[...packed, config, manifest].map((each) => file(blobPath(each), each.content)),
  ])
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
