// Backups in a folder of the machine. A file gets its name when all of it is on the disk, so nothing half-written is ever found.

import { constants, createReadStream } from 'node:fs'
import { lstat, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { SlipwayError } from '../../api/slipway-error.ts'
import type { OpenStore, StoredObject } from '../../ports/backup-store.ts'
import { systemCode, unlessMissing } from '../disk/disk-error.ts'
import { syncFolder } from '../disk/sync-folder.ts'
import { machinePath } from '../host/machine-path.ts'

export interface PathPlace {
  /** Where the machine's own root is seen; '' outside a container. */
  readonly root: string
  /** As the machine sees it. */
  readonly folder: string
  /** For people, in front of the name. */
  readonly title: string
  /** A disk of the machine itself, or one that others keep. */
  readonly isLocal: boolean
  /** Of what is mounted there; absent where nothing is. */
  readonly device?: number
}

/** The same for the same name: the next write replaces what a crash left. Hidden from lists. */
const temporaryName = (name: string) => `.${name}.new`
const readBytes = 256 * 1024

export class PathStore implements OpenStore {
  readonly #place: PathPlace

  readonly #letGo: () => Promise<void>

  /** `letGo`: what is to be done with the folder when nobody needs it any more. */
  constructor(place: PathPlace, letGo: () => Promise<void> = () => Promise.resolve()) {
    this.#place = place
    this.#letGo = letGo
  }

  location(name: string): string {
    return `${this.#place.title}/${name}`
  }

  put(name: string, content: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void> {
    return this.#naming(name, 'storing', signal, async () => {
      const folder = await this.#folder()
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const temporary = join(folder, temporaryName(name))
      // Left by a crash, or a link that somebody put there.
      await rm(temporary, { force: true })
      try {
        await writeAll(temporary, content, signal)
        signal.throwIfAborted()
        // Looked at once more: it took its time, and what was mounted may be gone.
        await rename(temporary, join(await this.#folder(), name))
      } catch (error) {
        await rm(temporary, { force: true })
        throw error
      }
      await syncFolder(folder)
      await syncFolder(dirname(folder))
    })
  }

  get(name: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array> | undefined> {
    return this.#naming(name, 'reading', signal, async () => {
      const path = join(await this.#folder(), name)
      const found = await lstat(path).catch(unlessMissing)
      if (found === undefined) return undefined
      if (!found.isFile()) throw new Error('it is no file')
      return this.#read(name, path, signal)
    })
  }

  list(signal: AbortSignal): Promise<readonly StoredObject[]> {
    return this.#naming('', 'listing', signal, async () => {
      const folder = await this.#folder()
      const entries = (await readdir(folder, { withFileTypes: true }).catch(unlessMissing)) ?? []
      const names = entries.filter((entry) => entry.isFile() && !entry.name.startsWith('.')).map(({ name }) => name)
      const found = await Promise.all(
        names.map(async (name) => {
          const entry = await lstat(join(folder, name)).catch(unlessMissing)
          return entry ? [{ name, bytes: entry.size }] : []
        }),
      )
      return found.flat()
    })
  }

  remove(name: string, signal: AbortSignal): Promise<void> {
    return this.#naming(name, 'removing', signal, async () => {
      const folder = await this.#folder()
      if ((await lstat(join(folder, name)).catch(unlessMissing)) === undefined) return
      await rm(join(folder, name), { force: true })
      await syncFolder(folder)
    })
  }

  close(): Promise<void> {
    return this.#letGo()
  }

  /** Never the bare folder below a mount that is gone: what lies there is on the host's own disk, where nobody looks for it. */
  async #folder(): Promise<string> {
    const { root, folder, device, title } = this.#place
    const path = await machinePath(root, folder, true)
    if (device === undefined || (await stat(path).catch(unlessMissing))?.dev === device) return path
    throw new SlipwayError('StoreUnreachable', `${title} is not mounted at ${folder} any more`, {
      nextStep: 'look who unmounted it; it is mounted anew the next time',
    })
  }

  async *#read(name: string, path: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    try {
      yield* createReadStream(path, { highWaterMark: readBytes, signal }) as AsyncIterable<Uint8Array>
    } catch (error) {
      throw this.#errorOf(name, 'reading', error, signal)
    }
  }

  async #naming<T>(name: string, what: string, signal: AbortSignal, act: () => Promise<T>): Promise<T> {
    try {
      return await act()
    } catch (error) {
      throw this.#errorOf(name, what, error, signal)
    }
  }

  #errorOf(name: string, what: string, error: unknown, signal: AbortSignal): unknown {
    if (signal.aborted) return signal.reason
    const code = systemCode(error)
    // Not the file system's: what comes from the source is the source's word.
    if (error instanceof SlipwayError || code === undefined) return error
    const place = name === '' ? this.#place.title : this.location(name)
    const message = `${what} ${place}: ${error instanceof Error ? error.message : String(error)}`
    const { isLocal } = this.#place
    if (code === 'ENOSPC' || code === 'EDQUOT') {
      const nextStep = `free space where ${place} lies, or keep fewer backups`
      return new SlipwayError(isLocal ? 'DiskTooFull' : 'StoreRefused', message, { nextStep, cause: error })
    }
    if (!isLocal && ['EIO', 'ETIMEDOUT', 'ESTALE', 'EHOSTDOWN', 'EHOSTUNREACH'].includes(code)) {
      return new SlipwayError('StoreUnreachable', message, { nextStep: 'look at the server', cause: error })
    }
    const nextStep = `look at the rights on ${this.#place.title}, and at the kernel’s log`
    return new SlipwayError('StoreRefused', message, { nextStep, cause: error })
  }
}

async function writeAll(path: string, content: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void> {
  const file = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600)
  try {
    for await (const piece of content) {
      signal.throwIfAborted()
      for (let at = 0; at < piece.length; ) at += (await file.write(piece, at)).bytesWritten
    }
    await file.sync()
  } finally {
    await file.close()
  }
}
