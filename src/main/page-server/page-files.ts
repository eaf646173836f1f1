// The console's page as `make build` left it, read once and compressed once.

import { readdir, readFile } from 'node:fs/promises'
import { extname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { SlipwayError } from '../../api/slipway-error.ts'
import type { StaticFile, StaticFiles } from '../../web/static-file.ts'

/** Beside the bundled program, and in a checkout. */
const places = ['./console/', '../../../dist/console/'] as const

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.json': 'application/json; charset=utf-8',
}
const compressible = new Set(['.html', '.js', '.css', '.svg', '.json'])
/** Names of files in there carry a hash of their content. */
const hashed = '/assets/'

export async function hasPage(): Promise<boolean> {
  return (await pageFolder()) !== undefined
}

export async function readPage(): Promise<StaticFiles> {
  const found = await pageFolder()
  if (found) {
    const { folder, files } = found
    const entries = files.map(async (path) => [`/${relative(folder, path)}`, await fileAt(path, folder)] as const)
    return new Map(await Promise.all(entries))
  }
  throw new SlipwayError('NotFound', 'the console’s page is not beside this program', {
    nextStep: 'build it: make build',
  })
}

async function pageFolder() {
  for (const place of places) {
    const folder = fileURLToPath(new URL(place, import.meta.url))
    const names = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
    const files = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
    if (files.includes(join(folder, 'index.html'))) return { folder, files }
  }
  return undefined
}

async function fileAt(path: string, folder: string): Promise<StaticFile> {
  const bytes = await readFile(path)
  const ending = extname(path)
  const immutable = `/${relative(folder, path)}`.startsWith(hashed)
  const file = { type: types[ending] ?? 'application/octet-stream', bytes, immutable }
  if (!compressible.has(ending)) return file
  const params = { [constants.BROTLI_PARAM_QUALITY]: 6 }
  const [packed, small] = await Promise.all([promisify(gzip)(bytes), promisify(brotliCompress)(bytes, { params })])
  return { ...file, gzip: packed, brotli: small }
}
