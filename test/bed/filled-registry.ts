// One registry, twice over the same content: open over plain http, and closed behind TLS of its own authority and a password.

import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeAuthority, makePair } from './certificates.ts'
import { freePorts } from './child-program.ts'
import { startOciRegistry } from './oci-registry.ts'
import { manifestType } from './osimage/oci-image.ts'
import { registryClient } from './osimage/registry-client.ts'

export const username = 'reader'
export const password = 'let-me-read'
const htpasswd = `${username}:$2b$04$xDhNM9n7gqqQuewWBhhcxOsnw2FLTC4832jCkcpLUlHr2/Byg9mnS`

export const repository = 'team/os'
const indexType = 'application/vnd.oci.image.index.v1+json'

export class FilledRegistry {
  /** Hosts, as references begin. */
  readonly open: string
  readonly closed: string
  /** PEM */
  readonly authority: string
  /** Where all that was pushed lies. */
  readonly content: string
  readonly #stop: () => Promise<void>

  private constructor(ports: readonly [number, number], authority: string, content: string, stop: () => Promise<void>) {
    this.content = content
    this.open = `127.0.0.1:${ports[0]}`
    this.closed = `127.0.0.1:${ports[1]}`
    this.authority = authority
    this.#stop = stop
  }

  static async start(): Promise<FilledRegistry> {
    const folder = mkdtempSync(join(tmpdir(), 'slipway-registry-'))
    const authority = makeAuthority('registry-ca')
    const tls = makePair(authority, { name: 'registry', ips: ['127.0.0.1'] })
    const [openPort = 0, closedPort = 0] = await freePorts(2)
    const running = [
      await startOciRegistry({ folder, port: openPort }),
      await startOciRegistry({ folder, port: closedPort, tls, htpasswd }),
    ]
    return new FilledRegistry([openPort, closedPort], authority.certificate, join(folder, 'content'), async () => {
      await Promise.all(running.map((one) => one.stop('SIGKILL')))
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    })
  }

  stop(): Promise<void> {
    return this.#stop()
  }

  /** An image of its own for each word; the digest. */
  async push(tag: string, architecture: string, word = tag, into = repository): Promise<string> {
    const client = registryClient(this.open)
    const layer = Buffer.from(`layer of ${word} ${architecture}`)
    const config = json({
      architecture,
      os: 'linux',
      rootfs: { type: 'layers', diff_ids: [sha256(layer)] },
      config: {},
    })
    await client.putBlob(into, sha256(layer), layer)
    await client.putBlob(into, sha256(config), config)
    const manifest = json({
      schemaVersion: 2,
      mediaType: manifestType,
      config: { mediaType: 'application/vnd.oci.image.config.v1+json', digest: sha256(config), size: config.length },
      layers: [{ mediaType: 'application/vnd.oci.image.layer.v1.tar', digest: sha256(layer), size: layer.length }],
    })
    await client.putManifest(into, tag, manifest)
    return sha256(manifest)
  }

  /** A list of images that are there under tags of their own, by architecture; the digest. */
  async pushIndex(tag: string, tags: Readonly<Record<string, string>>): Promise<string> {
    const client = registryClient(this.open)
    const manifests = Object.entries(tags).map(async ([architecture, own]) => {
      const manifest = await client.manifest(repository, own)
      const descriptor = { mediaType: manifestType, digest: sha256(manifest), size: manifest.length }
      return { ...descriptor, platform: { os: 'linux', architecture } }
    })
    const index = json({ schemaVersion: 2, mediaType: indexType, manifests: await Promise.all(manifests) })
    const url = `http://${this.open}/v2/${repository}/manifests/${tag}`
    const body = new Uint8Array(index)
    const answer = await fetch(url, { method: 'PUT', headers: { 'content-type': indexType }, body })
    if (!answer.ok) throw new Error(`${url} answered ${answer.status}: ${await answer.text()}`)
    return sha256(index)
  }
}

function sha256(content: Buffer): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`
}

function json(value: object): Buffer {
  return Buffer.from(JSON.stringify(value))
}
