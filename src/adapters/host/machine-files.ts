import { createHash } from 'node:crypto'
import { createReadStream, watch as watchFolder } from 'node:fs'
import { lstat, mkdir, open, readdir, readFile, readlink, rename, rm, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { SlipwayError } from '../../api/slipway-error.ts'
import type { FileAttributes, FileLook, HostFiles } from '../../ports/host-files.ts'
import { namingPath, systemCode } from '../disk/disk-error.ts'
import { MachineNames } from './machine-names.ts'
import { machinePath } from './machine-path.ts'

const defaultBytes = 1024 * 1024

/** Puts the SELinux label of a file right: as the one it replaces has it, or as the policy wants it. */
export type Relabel = (temporary: string, path: string, replaces: boolean) => Promise<void>

export class MachineFiles implements HostFiles {
  readonly #root: string
  readonly #names: MachineNames
  readonly #relabel: Relabel

  constructor(root: string, relabel: Relabel) {
    this.#root = root
    this.#names = new MachineNames(root)
    this.#relabel = relabel
  }

  look(path: string): Promise<FileLook> {
    return namingPath(path, async () => {
      const at = await machinePath(this.#root, path)
      const stat = await lstat(at).catch(unlessMissing)
      if (stat === undefined) return { kind: 'none' }
      if (stat.isSymbolicLink()) return { kind: 'link', target: await readlink(at) }
      if (stat.isDirectory()) return { kind: 'folder' }
      if (!stat.isFile()) return { kind: 'other' }
      const { owner, group } = await this.#names.of(stat.uid, stat.gid)
      return {
        kind: 'file',
        mode: stat.mode & 0o7777,
        owner,
        group,
        bytes: stat.size,
        modifiedMs: stat.mtimeMs,
      }
    })
  }

  read(path: string, maxBytes = defaultBytes): Promise<string | undefined> {
    return namingPath(path, async () => {
      const at = await machinePath(this.#root, path, true)
      const stat = await lstat(at).catch(unlessMissing)
      if (stat === undefined) return undefined
      if (stat.size > maxBytes) {
        throw new SlipwayError('DiskFailed', `${path} has ${stat.size} bytes, more than the ${maxBytes} that are read`)
      }
      return await readFile(at, 'utf8')
    })
  }

  sha256(path: string): Promise<string | undefined> {
    return namingPath(path, async () => {
      const at = await machinePath(this.#root, path, true)
      if ((await lstat(at).catch(unlessMissing)) === undefined) return undefined
      const hash = createHash('sha256')
      for await (const chunk of createReadStream(at)) hash.update(chunk as Uint8Array)
      return hash.digest('hex')
    })
  }

  write(path: string, content: string, { mode, owner, group }: FileAttributes): Promise<void> {
    return namingPath(path, async () => {
      const at = await machinePath(this.#root, path)
      const folder = dirname(at)
      await mkdir(folder, { recursive: true, mode: 0o755 })
      const temporary = `${at}.slipway-new`
      const { uid, gid } = await this.#names.ids(owner, group)
      const file = await open(temporary, 'w', 0o600)
      try {
        await file.writeFile(content)
        await file.chown(uid, gid)
        await file.chmod(mode)
        await file.sync()
      } finally {
        await file.close()
      }
      const replaces = (await lstat(at).catch(unlessMissing)) !== undefined
      await this.#relabel(`${path}.slipway-new`, path, replaces)
      await rename(temporary, at)
      await syncFolder(folder)
    })
  }

  rename(from: string, to: string): Promise<void> {
    return namingPath(to, async () => {
      const target = await machinePath(this.#root, to)
      await rename(await machinePath(this.#root, from), target)
      await syncFolder(dirname(target))
    })
  }

  remove(path: string): Promise<void> {
    return namingPath(path, async () => {
      const at = await machinePath(this.#root, path)
      if ((await lstat(at).catch(unlessMissing)) === undefined) return
      await rm(at)
      await syncFolder(dirname(at))
    })
  }

  names(folder: string): Promise<readonly string[]> {
    return namingPath(folder, async () => {
      const found = await readdir(await machinePath(this.#root, folder, true)).catch(unlessMissing)
      return (found ?? []).toSorted()
    })
  }

  freeBytes(path: string): Promise<number> {
    return namingPath(path, async () => {
      const { bavail, bsize } = await statfs(await machinePath(this.#root, path, true))
      return bavail * bsize
    })
  }

  async watch(paths: readonly string[], onChange: () => void, signal: AbortSignal): Promise<void> {
    const folders = new Map<string, Set<string>>()
    for (const path of paths) {
      const at = await machinePath(this.#root, path)
      const folder = dirname(at)
      folders.set(folder, (folders.get(folder) ?? new Set()).add(at.slice(folder.length + 1)))
    }
    const watchers = [...folders].map(([folder, names]) =>
      watchFolder(folder, { signal }, (_event, name) => {
        if (name === null || names.has(name)) onChange()
      }),
    )
    // A folder that goes away is the slow check's business.
    for (const watcher of watchers) watcher.on('error', () => watcher.close())
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve()
      else signal.addEventListener('abort', () => resolve(), { once: true })
    })
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

function unlessMissing(error: unknown): undefined {
  const code = systemCode(error)
  if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
  throw error
}
