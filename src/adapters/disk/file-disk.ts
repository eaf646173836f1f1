import { mkdir, open, readdir, readFile, rename, rm, unlink } from 'node:fs/promises'
import { SlipwayError, type SlipwayErrorCode } from '../../api/slipway-error.ts'
import type { Disk } from '../../ports/disk.ts'

/** The Disk port over this machine's file system. */
export class FileDisk implements Disk {
  read(path: string): Promise<string | undefined> {
    return orUndefined(path, () => readFile(path, 'utf8'))
  }

  readTail(path: string, bytes: number): Promise<string | undefined> {
    return orUndefined(path, async () => {
      await using file = await open(path, 'r')
      const { size } = await file.stat()
      const buffer = Buffer.alloc(Math.min(bytes, size))
      const { bytesRead } = await file.read(buffer, 0, buffer.length, size - buffer.length)
      return buffer.toString('utf8', 0, bytesRead)
    })
  }

  write(path: string, content: string, mode: number): Promise<void> {
    return named(path, async () => {
      await using file = await open(path, 'w', mode)
      // The mode given to open is cut by the umask, and an existing file keeps its own.
      await file.chmod(mode)
      await file.writeFile(content, 'utf8')
    })
  }

  sync(path: string): Promise<void> {
    return named(path, () => syncToDisk(path))
  }

  rename(from: string, to: string): Promise<void> {
    return named(from, () => rename(from, to))
  }

  remove(path: string): Promise<void> {
    return named(path, () => unlink(path))
  }

  makeFolder(path: string): Promise<void> {
    return named(path, async () => {
      await mkdir(path, { recursive: true, mode: 0o700 })
    })
  }

  syncFolder(path: string): Promise<void> {
    return named(path, () => syncToDisk(path))
  }

  async names(path: string): Promise<readonly string[]> {
    return (await orUndefined(path, async () => (await readdir(path)).sort())) ?? []
  }

  removeFolder(path: string): Promise<void> {
    return named(path, () => rm(path, { recursive: true, force: true }))
  }
}

async function syncToDisk(path: string): Promise<void> {
  await using file = await open(path, 'r')
  await file.sync()
}

async function orUndefined<T>(path: string, act: () => Promise<T>): Promise<T | undefined> {
  try {
    return await act()
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined
    throw diskError(path, error)
  }
}

async function named<T>(path: string, act: () => Promise<T>): Promise<T> {
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
