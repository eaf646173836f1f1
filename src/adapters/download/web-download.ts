import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { dirname } from 'node:path'
import type { Reason } from '../../api/reason.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import type { Download, DownloadRequest } from '../../ports/download.ts'
import { namingPath, systemCode } from '../disk/disk-error.ts'
import { syncFolder } from '../disk/sync-folder.ts'
import { WebClient, type WebClientOptions } from './web-client.ts'

/** Answers that may be another one later, though they put the blame on the caller. */
const passing = new Set([408, 425, 429])

type Fetched = { readonly bytes: number; readonly sha256: string } | { readonly reason: Reason }

export class WebDownload implements Download {
  readonly #client: WebClient

  constructor(options: WebClientOptions = {}) {
    this.#client = new WebClient(options)
  }

  async fetch(request: DownloadRequest, signal: AbortSignal): Promise<Reason | undefined> {
    const { url, to } = request
    if ((await sha256Of(to)) === request.sha256) return undefined
    await namingPath(to, () => mkdir(dirname(to), { recursive: true, mode: 0o700 }))
    const partial = `${to}.part`
    try {
      const fetched = await this.#into(partial, request, signal)
      if ('reason' in fetched) return fetched.reason
      if (fetched.sha256 !== request.sha256) {
        const message = `${url} has SHA-256 ${fetched.sha256}, the order names ${request.sha256}`
        return { code: 'ContentMismatch', message }
      }
      await namingPath(to, () => rename(partial, to))
      await namingPath(to, () => syncFolder(dirname(to)))
      return undefined
    } catch (error) {
      if (error instanceof SlipwayError && error.code === 'DiskFull') {
        return { code: 'DiskTooFull', message: `no room for ${url}: ${error.message}; ${error.nextStep}` }
      }
      throw error
    } finally {
      await rm(partial, { force: true })
    }
  }

  async #into(path: string, { url, mode, maxBytes }: DownloadRequest, signal: AbortSignal): Promise<Fetched> {
    const answer = await this.#client.get(url, signal)
    const status = answer.statusCode ?? 0
    if (status !== 200) {
      answer.destroy()
      const message = `${url} answers ${status} ${answer.statusMessage ?? ''}`.trim()
      if (status >= 400 && status < 500 && !passing.has(status)) return { reason: refused(message) }
      throw new SlipwayError('StagingFailed', message, { nextStep: 'look at the server; it is tried again' })
    }
    const hash = createHash('sha256')
    let bytes = 0
    const file = await namingPath(path, () => open(path, 'w', mode))
    try {
      for await (const chunk of bodyOf(answer, url, signal)) {
        bytes += chunk.length
        if (bytes > maxBytes) return { reason: refused(`${url} has more than the ${maxBytes} bytes it may have`) }
        hash.update(chunk)
        await namingPath(path, () => file.writeFile(chunk))
      }
      await namingPath(path, async () => {
        await file.chmod(mode)
        await file.sync()
      })
    } finally {
      answer.destroy()
      await file.close()
    }
    return { bytes, sha256: hash.digest('hex') }
  }
}

async function* bodyOf(answer: IncomingMessage, url: string, signal: AbortSignal): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of answer) yield chunk as Buffer
  } catch (error) {
    if (signal.aborted) throw error
    throw new SlipwayError('StagingFailed', `${url} broke off: ${error instanceof Error ? error.message : error}`, {
      nextStep: 'look at the network; it is tried again',
      cause: error,
    })
  }
}

function refused(message: string): Reason {
  return { code: 'DownloadRefused', message }
}

async function sha256Of(path: string): Promise<string | undefined> {
  try {
    const hash = createHash('sha256')
    for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer)
    return hash.digest('hex')
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined
    throw error
  }
}
