import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import type { Compression } from '../../ports/compression.ts'

const pack = promisify(gzip)
const unpack = promisify<Buffer, { maxOutputLength: number }, Buffer>(gunzip)
/** More than any log we ask for: what is packed came from another machine. */
const mostBytes = 64 * 1024 * 1024

export const gzipCompression: Compression = {
  pack: async (text) => (await pack(text)).toString('base64'),
  unpack: async (packed) =>
    (await unpack(Buffer.from(packed, 'base64'), { maxOutputLength: mostBytes })).toString('utf8'),
}
