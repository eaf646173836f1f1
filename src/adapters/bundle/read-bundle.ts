import { createHash } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import type { BundleFile, BundleManifest } from '../../api/bundle.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import { manifestName, readManifest } from '../../core/bundle/manifest.ts'
import type { BundleLook } from '../../ports/bundles.ts'
import { namingPath, systemCode } from '../disk/disk-error.ts'
import { broken, TarReader } from './tar-reader.ts'

export const mostManifestBytes = 16 * 1024 * 1024

/** Takes the bytes of a file that the manifest names. */
export type TakeBody = (file: BundleFile, body: AsyncIterable<Buffer>) => Promise<void>

/** Reads the whole bundle and compares it with its manifest, entry by entry; `named` is how messages call it. */
export async function readBundle(
  path: string,
  named: string,
  take: TakeBody,
  signal: AbortSignal,
): Promise<BundleLook> {
  const handle = await openBundle(path, named)
  try {
    const reader = new TarReader(handle, named)
    const manifest = await manifestOf(reader, named, signal)
    for (const file of manifest.files) await readFile(reader, named, manifest, file, take, signal)
    const extra = await reader.next()
    if (extra) throw broken(named, unexpected(manifest, extra.path))
    return { manifest, ...reader.whole() }
  } finally {
    await handle.close()
  }
}

async function openBundle(path: string, named: string): Promise<FileHandle> {
  try {
    const handle = await open(path, 'r')
    if ((await handle.stat()).isFile()) return handle
    await handle.close()
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') return await namingPath(named, () => Promise.reject(error))
  }
  throw new SlipwayError('BundleMissing', `there is no bundle ${named}`, {
    nextStep: 'put it there, or correct the path',
  })
}

async function manifestOf(reader: TarReader, named: string, signal: AbortSignal): Promise<BundleManifest> {
  const first = await reader.next()
  if (first?.path !== manifestName) throw broken(named, `it does not begin with ${manifestName}`)
  if (first.bytes > mostManifestBytes) throw broken(named, `its ${manifestName} has ${first.bytes} bytes`)
  const chunks: Buffer[] = []
  for await (const chunk of reader.body(first, signal)) chunks.push(Buffer.from(chunk))
  const judged = readManifest(Buffer.concat(chunks).toString('utf8'))
  if (!judged.ok) throw broken(named, judged.fault)
  return judged.value
}

async function readFile(
  reader: TarReader,
  named: string,
  manifest: BundleManifest,
  file: BundleFile,
  take: TakeBody,
  signal: AbortSignal,
): Promise<void> {
  const entry = await reader.next()
  if (!entry) throw broken(named, `it lacks ${file.path}`)
  if (entry.path !== file.path) throw broken(named, unexpected(manifest, entry.path))
  if (entry.bytes !== file.bytes) {
    throw broken(named, `${file.path} has ${entry.bytes} bytes, its ${manifestName} says ${file.bytes}`)
  }
  const hash = createHash('sha256')
  await take(
    file,
    hashed(reader.body(entry, signal), (chunk) => hash.update(chunk)),
  )
  const sha256 = hash.digest('hex')
  if (sha256 !== file.sha256) {
    throw broken(named, `${file.path} has SHA-256 ${sha256}, its ${manifestName} says ${file.sha256}`)
  }
}

async function* hashed(body: AsyncIterable<Buffer>, see: (chunk: Buffer) => void): AsyncGenerator<Buffer> {
  for await (const chunk of body) {
    see(chunk)
    yield chunk
  }
}

function unexpected({ files }: BundleManifest, path: string): string {
  const shown = JSON.stringify(path)
  return files.some((file) => file.path === path)
    ? `${shown} comes twice or not in its place`
    : `${shown} is not in its ${manifestName}`
}
