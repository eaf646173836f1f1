// Reads the beginning of a bundle and hangs up: the manifest is its first entry, and the rest may be gigabytes.

import type { BundleManifest } from '../../api/bundle.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import { manifestName, readManifest } from '../../core/bundle/manifest.ts'
import { blockBytes, readTarHeader } from '../../core/bundle/tar-header.ts'
import type { BundleManifests } from '../../ports/bundle-manifests.ts'
import { WebClient, type WebClientOptions } from '../download/web-client.ts'
import { mostManifestBytes } from './read-bundle.ts'
import { broken } from './tar-reader.ts'

export class WebManifests implements BundleManifests {
  readonly #client: WebClient

  constructor(options: WebClientOptions = {}) {
    this.#client = new WebClient(options)
  }

  async read(url: string, signal: AbortSignal): Promise<BundleManifest> {
    const answer = await this.#client.get(url, signal)
    try {
      if (answer.statusCode !== 200) {
        throw new SlipwayError('StagingFailed', `${url} answers ${answer.statusCode}`, {
          nextStep: 'look at the address and the server; it is tried again',
        })
      }
      return manifestIn(await beginning(answer, url), url)
    } finally {
      answer.destroy()
    }
  }
}

/** As much as the first entry takes; less where there is no more. */
async function beginning(body: AsyncIterable<Buffer>, url: string): Promise<Buffer> {
  let read: Buffer = Buffer.alloc(0)
  for await (const chunk of body) {
    read = Buffer.concat([read, chunk])
    if (read.length >= blockBytes && read.length >= blockBytes + manifestBytes(read, url)) break
  }
  return read
}

function manifestIn(read: Buffer, url: string): BundleManifest {
  if (read.length < blockBytes) throw broken(url, `it is cut off after ${read.length} bytes`)
  const end = blockBytes + manifestBytes(read, url)
  if (read.length < end) throw broken(url, `it is cut off after ${read.length} bytes`)
  const judged = readManifest(read.subarray(blockBytes, end).toString('utf8'))
  if (!judged.ok) throw broken(url, judged.fault)
  return judged.value
}

function manifestBytes(read: Buffer, url: string): number {
  const header = readTarHeader(read.subarray(0, blockBytes))
  if (header.kind !== 'file' || header.path !== manifestName)
    throw broken(url, `it does not begin with ${manifestName}`)
  if (header.bytes > mostManifestBytes) throw broken(url, `its ${manifestName} has ${header.bytes} bytes`)
  return header.bytes
}
