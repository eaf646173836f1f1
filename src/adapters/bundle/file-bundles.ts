import { mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { BundleManifest } from '../../api/bundle.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import { manifestName, manifestText } from '../../core/bundle/manifest.ts'
import type { BundleLook, BundleOrder, Bundles } from '../../ports/bundles.ts'
import { namingPath, systemCode } from '../disk/disk-error.ts'
import { syncFolder } from '../disk/sync-folder.ts'
import { machinePath } from '../host/machine-path.ts'
import { createBundle } from './create-bundle.ts'
import { readBundle } from './read-bundle.ts'

/** `root` is where the machine's own files are seen; '' outside a container. Paths are as the machine sees them. */
export class FileBundles implements Bundles {
  readonly #root: string

  constructor(root = '') {
    this.#root = root
  }

  create(order: BundleOrder, signal: AbortSignal): Promise<BundleLook> {
    return createBundle(order, signal)
  }

  async verify(file: string, signal: AbortSignal): Promise<BundleLook> {
    return await readBundle(await this.#source(file), file, drain, signal)
  }

  async bytes(file: string): Promise<number | undefined> {
    try {
      const found = await stat(await this.#source(file))
      return found.isFile() ? found.size : undefined
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return undefined
      return await namingPath(file, () => Promise.reject(error))
    }
  }

  async unpack(file: string, sha256: string, folder: string, signal: AbortSignal): Promise<BundleManifest> {
    const to = await machinePath(this.#root, folder)
    const partial = `${to}.part`
    await rm(partial, { recursive: true, force: true })
    try {
      return await namingPath(folder, async () => {
        await mkdir(partial, { recursive: true, mode: 0o700 })
        const take = (each: { readonly path: string }, body: AsyncIterable<Buffer>) =>
          writeDown(join(partial, each.path), body)
        const look = await readBundle(await this.#source(file), file, take, signal)
        if (look.sha256 !== sha256) throw mismatch(file, look.sha256, sha256)
        await writeDown(join(partial, manifestName), [Buffer.from(manifestText(look.manifest))])
        await syncFolders(partial, look.manifest)
        await rm(to, { recursive: true, force: true })
        await rename(partial, to)
        await syncFolder(dirname(to))
        return look.manifest
      })
    } finally {
      await rm(partial, { recursive: true, force: true })
    }
  }

  #source(file: string): Promise<string> {
    return this.#root === '' ? Promise.resolve(file) : machinePath(this.#root, file, true)
  }
}

async function drain(_file: unknown, body: AsyncIterable<Buffer>): Promise<void> {
  for await (const _chunk of body);
}

/** A new file, its content safe on the disk. */
async function writeDown(path: string, body: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const file = await open(path, 'wx', 0o644)
  try {
    for await (const chunk of body) await file.writeFile(chunk)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Each folder of these files, so that their names are safe on the disk too. */
async function syncFolders(root: string, { files }: BundleManifest): Promise<void> {
  const folders = new Set<string>([root])
  for (const { path } of files) for (let at = dirname(path); at !== '.'; at = dirname(at)) folders.add(join(root, at))
  for (const folder of folders) await syncFolder(folder)
}

function mismatch(file: string, found: string, wanted: string): SlipwayError {
  return new SlipwayError('ContentMismatch', `the bundle ${file} has SHA-256 ${found}, the order names ${wanted}`, {
    nextStep: 'put the right bundle there, or correct the SHA-256',
  })
}
