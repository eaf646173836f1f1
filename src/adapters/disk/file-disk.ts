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
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { rm } from 'node:fs/promises'
import { promisify } from 'node:util'
import type { Disk, Excerpt } from '../../ports/disk.ts'
import { diskError, isMissing, namingPath } from './disk-error.ts'

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

  readFrom(path: string, offset: number, maxBytes: number): Promise<Excerpt | undefined> {
    return orUndefined(path, () =>
      withFile(path, 'r', 0, (file) => {
        const buffer = Buffer.alloc(Math.max(0, Math.min(maxBytes, fstatSync(file).size - offset)))
        const bytes = wholeCharacters(buffer.subarray(0, readSync(file, buffer, 0, buffer.length, offset)))
        return { text: buffer.toString('utf8', 0, bytes), bytes }
      }),
    )
  }

  bytes(path: string): Promise<number | undefined> {
    return orUndefined(path, () => statSync(path).size)
  }

  write(path: string, content: string, mode: number): Promise<void> {
    return namingPath(path, () =>
      withFile(path, 'w', mode, (file) => {
        // The mode given to open is cut by the umask, and an existing file keeps its own.
        fchmodSync(file, mode)
        writeFileSync(file, content, 'utf8')
      }),
    )
  }

  sync(path: string): Promise<void> {
    return namingPath(path, () => syncToDisk(path))
  }

  rename(from: string, to: string): Promise<void> {
    return namingPath(from, () => renameSync(from, to))
  }

  remove(path: string): Promise<void> {
    return namingPath(path, () => unlinkSync(path))
  }

  makeFolder(path: string): Promise<void> {
    return namingPath(path, () => void mkdirSync(path, { recursive: true, mode: 0o700 }))
  }

  syncFolder(path: string): Promise<void> {
    return namingPath(path, () => syncToDisk(path))
  }

  async names(path: string): Promise<readonly string[]> {
    return (await orUndefined(path, () => readdirSync(path).sort())) ?? []
  }

  removeFolder(path: string): Promise<void> {
    return namingPath(path, () => rm(path, { recursive: true, force: true }))
  }
}

/** Up to where the bytes are whole characters; a character has four bytes at most. */
function wholeCharacters(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0
    if (byte < 0x80) return bytes.length
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? bytes.length - back : bytes.length
  }
  return bytes.length
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
    if (isMissing(error)) return undefined
    throw diskError(path, error)
  }
}
