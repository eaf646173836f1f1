import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, lstat, open, readdir, rename, rm } from 'node:fs/promises'
import { join, resolve, sep } from 'node:path'
import type { BundleFile, BundleManifest } from '../../api/bundle.ts'
import { bundleFormat } from '../../api/bundle.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import { manifestName, manifestText } from '../../core/bundle/manifest.ts'
import { type FoundEntry, planBundle } from '../../core/bundle/plan-bundle.ts'
import { blockBytes, paddingAfter, tarHeader } from '../../core/bundle/tar-header.ts'
import type { BundleLook, BundleOrder } from '../../ports/bundles.ts'
import { namingPath, systemCode } from '../disk/disk-error.ts'

const mostFaults = 20

export async function createBundle(order: BundleOrder, signal: AbortSignal): Promise<BundleLook> {
  const { folder, output } = order
  if (`${resolve(output)}${sep}`.startsWith(`${resolve(folder)}${sep}`)) {
    throw new SlipwayError('Usage', `${output} lies in the folder it is made from`, { nextStep: 'write it elsewhere' })
  }
  const plan = planBundle(await entriesIn(folder), order.architecture)
  if (!plan.ok) throw refused(folder, plan.faults)
  const files: BundleFile[] = []
  for (const path of plan.paths) files.push({ path, ...(await lookAt(join(folder, path), signal)) })
  const manifest: BundleManifest = { format: bundleFormat, architecture: plan.architecture, files }
  const partial = `${output}.part`
  try {
    const whole = await namingPath(output, () => write(partial, folder, manifest, signal))
    await namingPath(output, () => rename(partial, output))
    return { manifest, ...whole }
  } finally {
    await rm(partial, { force: true })
  }
}

function refused(folder: string, faults: readonly string[]): SlipwayError {
  const shown = faults.slice(0, mostFaults)
  const more = faults.length > shown.length ? [`and ${faults.length - shown.length} more`] : []
  return new SlipwayError('Usage', `${folder} cannot be made a bundle: ${[...shown, ...more].join('; ')}`, {
    nextStep: 'lay it out as slipway bundle create --help shows',
  })
}

async function entriesIn(root: string, path = ''): Promise<readonly FoundEntry[]> {
  const names = await readdir(join(root, path)).catch((error: unknown) => {
    if (systemCode(error) !== 'ENOENT' && systemCode(error) !== 'ENOTDIR') throw error
    throw new SlipwayError('NotFound', `there is no folder ${join(root, path)}`, { nextStep: 'correct the path' })
  })
  const found: FoundEntry[] = []
  for (const name of names.toSorted()) {
    const at = path === '' ? name : `${path}/${name}`
    const stat = await lstat(join(root, at))
    if (stat.isDirectory()) found.push({ path: at, kind: 'folder' }, ...(await entriesIn(root, at)))
    else found.push({ path: at, kind: stat.isFile() ? 'file' : stat.isSymbolicLink() ? 'link' : 'other' })
  }
  return found
}

async function lookAt(path: string, signal: AbortSignal): Promise<{ readonly bytes: number; readonly sha256: string }> {
  const hash = createHash('sha256')
  let bytes = 0
  for await (const chunk of createReadStream(path, { signal })) {
    hash.update(chunk as Buffer)
    bytes += (chunk as Buffer).length
  }
  return { bytes, sha256: hash.digest('hex') }
}

async function write(
  output: string,
  folder: string,
  manifest: BundleManifest,
  signal: AbortSignal,
): Promise<{ readonly sha256: string; readonly bytes: number }> {
  const file = await open(output, 'w', 0o644)
  try {
    const tar = new TarWriter(file)
    const head = Buffer.from(manifestText(manifest))
    await tar.write(tarHeader({ path: manifestName, bytes: head.length }))
    await tar.write(head)
    await tar.fill(paddingAfter(head.length))
    for (const each of manifest.files) {
      await tar.write(tarHeader(each))
      await copyUnchanged(join(folder, each.path), each, tar, signal)
      await tar.fill(paddingAfter(each.bytes))
    }
    await tar.fill(2 * blockBytes)
    await file.sync()
    return tar.whole()
  } finally {
    await file.close()
  }
}

async function copyUnchanged(path: string, { bytes, sha256 }: BundleFile, tar: TarWriter, signal: AbortSignal) {
  const hash = createHash('sha256')
  // Not a byte beyond what was announced, should the file have grown.
  for await (const chunk of bytes === 0 ? [] : createReadStream(path, { signal, end: bytes - 1 })) {
    hash.update(chunk as Buffer)
    await tar.write(chunk as Buffer)
  }
  if (hash.digest('hex') !== sha256) {
    throw new SlipwayError('BundleBroken', `${path} changed while the bundle was made`, { nextStep: 'make it again' })
  }
}

class TarWriter {
  readonly #file: FileHandle
  readonly #hash = createHash('sha256')
  #bytes = 0

  constructor(file: FileHandle) {
    this.#file = file
  }

  async write(chunk: Uint8Array): Promise<void> {
    this.#hash.update(chunk)
    this.#bytes += chunk.length
    await this.#file.writeFile(chunk)
  }

  async fill(bytes: number): Promise<void> {
    if (bytes > 0) await this.write(new Uint8Array(bytes))
  }

  whole(): { readonly sha256: string; readonly bytes: number } {
    return { sha256: this.#hash.digest('hex'), bytes: this.#bytes }
  }
}
