// Serves folders over http on the bed's bridge. It never answers "not changed": http counts in seconds, and tests publish
// twice within one.

import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join, normalize } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { setTimeout as wait } from 'node:timers/promises'

export interface ServedRequest {
  readonly path: string
  readonly status: number
}

export class RepositoryServer {
  readonly url: string
  readonly #folders = new Map<string, string>()
  readonly #close: () => Promise<void>
  readonly requests: ServedRequest[] = []
  /** How fast each answer is sent; a slow one gives a test the time to break it. */
  bytesPerSecond = Number.POSITIVE_INFINITY

  private constructor(url: string, close: () => Promise<void>) {
    this.url = url
    this.#close = close
  }

  static async start(address: string): Promise<RepositoryServer> {
    const server = createServer()
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, address, resolve))
    const bound = server.address()
    const port = typeof bound === 'object' && bound !== null ? bound.port : 0
    const started = new RepositoryServer(`http://${address}:${port}`, async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    })
    server.on('request', (request, answer) => {
      started.#answer(request, answer).catch(() => answer.destroy())
    })
    return started
  }

  /** Puts a folder under that path and returns its address. */
  serve(path: string, folder: string): string {
    this.#folders.set(path, folder)
    return `${this.url}/${path}`
  }

  stop(): Promise<void> {
    return this.#close()
  }

  async #answer(request: IncomingMessage, answer: ServerResponse): Promise<void> {
    const path = normalize(decodeURIComponent(new URL(request.url ?? '/', this.url).pathname)).slice(1)
    const file = this.#fileAt(path)
    const found = file === undefined ? undefined : await stat(file).catch(() => undefined)
    if (file === undefined || found?.isFile() !== true) {
      this.requests.push({ path, status: 404 })
      answer.writeHead(404).end()
      return
    }
    const asked = Number(/^bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0)
    const start = asked < found.size ? asked : 0
    const status = start > 0 ? 206 : 200
    this.requests.push({ path, status })
    answer.writeHead(status, {
      'content-length': found.size - start,
      'last-modified': found.mtime.toUTCString(),
      'accept-ranges': 'bytes',
      ...(start > 0 ? { 'content-range': `bytes ${start}-${found.size - 1}/${found.size}` } : {}),
    })
    if (request.method === 'HEAD') answer.end()
    else await pipeline(createReadStream(file, { start }), (chunks) => this.#paced(chunks), answer)
  }

  async *#paced(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      yield chunk
      const pauseMs = (chunk.length / this.bytesPerSecond) * 1000
      if (pauseMs > 0) await wait(pauseMs)
    }
  }

  #fileAt(path: string): string | undefined {
    for (const [prefix, folder] of this.#folders) {
      if (path.startsWith(`${prefix}/`)) return join(folder, path.slice(prefix.length + 1))
    }
    return undefined
  }
}
