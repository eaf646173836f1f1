// The page's files, from a map that was read at the start: a path of a request never names a file of the machine.

import type { HttpAnswer, HttpRequest } from '../ports/http-server.ts'

export interface StaticFile {
  readonly type: string
  readonly bytes: Uint8Array
  readonly gzip?: Uint8Array
  readonly brotli?: Uint8Array
  /** Its name changes with its content. */
  readonly immutable: boolean
}

/** By paths as requests name them: `/index.html`, `/assets/app-1a2b.js`. */
export type StaticFiles = ReadonlyMap<string, StaticFile>

export function staticAnswer(files: StaticFiles, { path, headers }: HttpRequest): HttpAnswer | undefined {
  const file = files.get(path === '/' ? '/index.html' : path)
  if (!file) return undefined
  const accepted = (headers['accept-encoding'] ?? '').split(',').map((one) => one.split(';')[0]?.trim())
  const encoded =
    file.brotli && accepted.includes('br')
      ? { body: file.brotli, encoding: 'br' }
      : file.gzip && accepted.includes('gzip')
        ? { body: file.gzip, encoding: 'gzip' }
        : { body: file.bytes, encoding: undefined }
  return {
    status: 200,
    headers: {
      'content-type': file.type,
      'cache-control': file.immutable ? 'public, max-age=31536000, immutable' : 'no-cache',
      vary: 'accept-encoding',
      ...(encoded.encoding && { 'content-encoding': encoded.encoding }),
      'content-length': String(encoded.body.length),
    },
    body: encoded.body,
  }
}
