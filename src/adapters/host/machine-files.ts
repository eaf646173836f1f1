import { createHash } from 'node:crypto'
import { constants, createReadStream } from 'node:fs'
import { lstat, mkdir, open, readdir, readlink, rename, rm, statfs, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { SlipwayError } from '../../api/slipway-error.ts'
import type { FileAttributes, FileLook, HostFiles } from '../../ports/host-files.ts'
import { namingPath, unlessMissing } from '../disk/disk-error.ts'
import { syncFolder } from '../disk/sync-folder.ts'
import { MachineNames } from './machine-names.ts'
import { machinePath } from './machine-path.ts'
import type { Relabel } from './selinux-label.ts'
import { watchPaths } from './watch-paths.ts'

const defaultBytes = 1024 * 1024

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
      const at = await this.#regularFile(path)
      if (at === undefined) return undefined
      const chunks: Buffer[] = []
      let bytes = 0
      // By what is read, not by the size: files of the kernel say 0.
      for await (const chunk of createReadStream(at, { end: maxBytes })) {
        chunks.push(chunk as Buffer)
        bytes += (chunk as Buffer).length
      }
      if (bytes > maxBytes)
        throw new SlipwayError('DiskFailed', `${path} has more than the ${maxBytes} bytes that are read`, { path })
      return Buffer.concat(chunks).toString('utf8')
    })
  }

  sha256(path: string): Promise<string | undefined> {
    return namingPath(path, async () => {
      const at = await this.#regularFile(path)
      if (at === undefined) return undefined
      const hash = createHash('sha256')
      for await (const chunk of createReadStream(at)) hash.update(chunk as Uint8Array)
      return hash.digest('hex')
    })
  }

  write(path: string, content: string, { mode, owner, group }: FileAttributes): Promise<void> {
    return namingPath(path, async () => {
      const at = await machinePath(this.#root, path)
      const { uid, gid } = await this.#names.ids(owner, group)
      await makeFolders(dirname(at))
      const temporary = join(dirname(at), temporaryName(basename(at)))
      // One that a crash left behind, or a link that somebody put there.
      await unlink(temporary).catch(unlessMissing)
      try {
        const file = await open(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600)
        try {
          await file.writeFile(content)
          await file.chown(uid, gid)
          await file.chmod(mode)
          await file.sync()
        } finally {
          await file.close()
        }
        const replaced = await lstat(at).catch(unlessMissing)
        await this.#relabel(temporary.slice(this.#root.length), at.slice(this.#root.length), replaced !== undefined)
        await rename(temporary, at)
      } catch (error) {
        await rm(temporary, { force: true })
        throw error
      }
      await syncFolder(dirname(at))
    })
  }

  rename(from: string, to: string): Promise<void> {
    return namingPath(to, async () => {
      const source = await machinePath(this.#root, from)
      const target = await machinePath(this.#root, to)
      await rename(source, target)
      for (const folder of new Set([dirname(target), dirname(source)])) await syncFolder(folder)
    })
  }

  remove(path: string): Promise<void> {
    return namingPath(path, async () => {
      const at = await machinePath(this.#root, path)
      if ((await lstat(at).catch(unlessMissing)) === undefined) return
      await unlink(at)
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
      let at = await machinePath(this.#root, path, true)
      // What is to be written there may need folders that are not there yet.
      for (;;) {
        const found = await statfs(at).catch(unlessMissing)
        if (found) return found.bavail * found.bsize
        at = dirname(at)
      }
    })
  }

  watch(paths: readonly string[], onChange: () => void, signal: AbortSignal): Promise<void> {
    return watchPaths(this.#root, paths, onChange, signal)
  }

  /** Where the file lies that the path leads to; a pipe or a device is refused, since reading it may never end. */
  async #regularFile(path: string): Promise<string | undefined> {
    const at = await machinePath(this.#root, path, true)
    const stat = await lstat(at).catch(unlessMissing)
    if (stat === undefined) return undefined
    if (!stat.isFile()) throw new SlipwayError('DiskFailed', `${path} is no file`, { path })
    return at
  }
}

/**
 * The same for the same file, so that the next write removes what a crash left. Hidden and with an ending of its own: folders
 * like /etc/sysctl.d take every file of a certain name for theirs. Short, because names are limited.
 */
function temporaryName(name: string): string {
  return `.slipway-${createHash('sha256').update(name).digest('hex').slice(0, 16)}.new`
}

/** Each new folder is safe against power loss only when the one above it is synced. */
async function makeFolders(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true, mode: 0o755 })
  if (first === undefined) return
  for (let made = folder; made.length >= first.length; made = dirname(made)) await syncFolder(dirname(made))
}
