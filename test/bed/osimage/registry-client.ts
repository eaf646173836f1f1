// The few requests of the OCI distribution protocol that fill a registry.

import { openAsBlob } from 'node:fs'
import { manifestType } from './oci-image.ts'

export interface RegistryClient {
  /** Sends it unless it is there. */
  putBlob(repository: string, digest: string, content: Buffer | { readonly file: string }): Promise<void>
  putManifest(repository: string, tag: string, content: Buffer, type?: string): Promise<void>
  manifest(repository: string, tag: string): Promise<Buffer>
  digestOf(repository: string, tag: string): Promise<string | undefined>
}

export function registryClient(address: string): RegistryClient {
  const base = `http://${address}/v2/`
  const manifestAt = (repository: string, tag: string) => `${base}${repository}/manifests/${tag}`
  const accept = { accept: manifestType }
  return {
    putBlob: async (repository, digest, content) => {
      if ((await fetch(`${base}${repository}/blobs/${digest}`, { method: 'HEAD' })).ok) return
      const opened = await ask(`${base}${repository}/blobs/uploads/`, { method: 'POST' })
      const place = new URL(opened.headers.get('location') ?? '', base)
      place.searchParams.set('digest', digest)
      const body = Buffer.isBuffer(content) ? bytes(content) : await openAsBlob(content.file)
      await ask(place, { method: 'PUT', headers: { 'content-type': 'application/octet-stream' }, body })
    },
    putManifest: async (repository, tag, content, type = manifestType) => {
      const headers = { 'content-type': type }
      await ask(manifestAt(repository, tag), { method: 'PUT', headers, body: bytes(content) })
    },
    manifest: async (repository, tag) => {
      const found = await ask(manifestAt(repository, tag), { headers: accept })
      return Buffer.from(await found.arrayBuffer())
    },
    digestOf: async (repository, tag) => {
      const found = await fetch(manifestAt(repository, tag), { method: 'HEAD', headers: accept })
      return found.headers.get('docker-content-digest') ?? undefined
    },
  }
}

async function ask(url: string | URL, init: RequestInit): Promise<Response> {
  const answer = await fetch(url, init)
  if (answer.ok) return answer
  throw new Error(`${init.method ?? 'GET'} ${url} answered ${answer.status}: ${await answer.text()}`)
}

function bytes(content: Buffer): Uint8Array<ArrayBuffer> {
  return new Uint8Array(content)
}
