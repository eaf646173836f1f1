import {
  closeSync,
  fchmodSync,
  fstatSync,
  fsync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { rm } from 'node:fs/promises'
import { promisify } from 'node:util'
import { SlipwayError, type SlipwayErrorCode } from '../../api/slipway-error.ts'
import type { Disk } from '../../ports/disk.ts'

const synced = promisify(fsync)

/**
 * The Disk port over this machine's file system. A journal is made of small files: what only touches the page cache is done
 * at once, which takes microseconds; each trip to the thread pool would take a turn of the event loop. What waits for the
 * disk itself (`sync`) does not hold anybody up.
 */
export class FileDisk implements Disk {
  read(path: string): Promise<string | undefined> {
    return orUndefined(path, () => readFileSync(path, 'utf8'))
  }

  readTail(path: string, bytes: number): Promise<string | undefined> {
    return orUndefined(path, () =>
      withFile(path, 'r', 0, (file) => {
        const { size } = fstatSync(file)
        const buffer = Buffer.alloc(Math.min(bytes, size))
        const bytesRead = readSync(file, buffer, 0, buffer.length, size - buffer.length)
        return buffer.toString('utf8', 0, bytesRead)
      }),
    )
  }

  write(path: string, content: string, mode: number): Promise<void> {
    return named(path, () =>
      withFile(path, 'w', mode, (file) => {
        // The mode given to open is cut by the umask, and an existing file keeps its own.
        fchmodSync(file, mode)
        writeFileSync(file, content, 'utf8')
      }),
    )
  }

  sync(path: string): Promise<void> {
    return named(path, () => syncToDisk(path))
  }

  rename(from: string, to: string): Promise<void> {
    return named(from, () => renameSync(from, to))
  }

  remove(path: string): Promise<void> {
    return named(path, () => unlinkSync(path))
  }

  makeFolder(path: string): Promise<void> {
    return named(path, () => void mkdirSync(path, { recursive: true, mode: 0o700 }))
  }

  syncFolder(path: string): Promise<void> {
    return named(path, () => syncToDisk(path))
  }

  async names(path: string): Promise<readonly string[]> {
    return (await orUndefined(path, () => readdirSync(path).sort())) ?? []
  }

  removeFolder(path: string): Promise<void> {
    return named(path, () => rm(path, { recursive: true, force: true }))
  }
}

function withFile<T>(path: string, flags: 'r' | 'w', mode: number, act: (file: number) => T): T {
  const file = openSync(path, flags, mode)
  try {
    return act(file)
  } finally {
    closeSync(file)
  }
}

async function syncToDisk(path: string): Promise<void> {
  const file = openSync(path, 'r')
  try {
    await synced(file)
  } finally {
    closeSync(file)
  }
}

async function orUndefined<T>(path: string, act: () => T | Promise<T>): Promise<T | undefined> {
  try {
    return await act()
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined
    throw diskError(path, error)
  }
}

async function named<T>(path: string, act: () => T | Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    throw diskError(path, error)
  }
}

function diskError(path: string, error: unknown): SlipwayError {
  const code = codeOf(error)
  const nextStep = {
    DiskFull: `free space on the file system of ${path}`,
    DiskNotFound: `look whether ${path} was moved or deleted`,
    DiskFailed: `look at the kernel’s log and at the rights on ${path}`,
  }[code]
  const message = error instanceof Error ? error.message : String(error)
  return new SlipwayError(code, `${path}: ${message}`, { nextStep, cause: error })
}

function codeOf(error: unknown): Extract<SlipwayErrorCode, `Disk${string}`> {
  switch (systemCode(error)) {
    case 'ENOSPC':
    case 'EDQUOT':
      return 'DiskFull'
    case 'ENOENT':
      return 'DiskNotFound'
    default:
      return 'DiskFailed'
  }
}

function systemCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
