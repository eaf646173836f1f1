// The files of a pretend machine: kept on its disk below /pretend/files, with their attributes beside them. No links, one user.

import { createHash } from 'node:crypto'
import type { Disk } from '../ports/disk.ts'
import type { FileAttributes, FileLook, HostFiles } from '../ports/host-files.ts'
import { pretendFolder, writeDurably } from './pretend-state.ts'

interface Kept extends FileAttributes {
  readonly content: string
  readonly sha256: string
}

const place = (path: string) => `${pretendFolder}/files/${encodeURIComponent(path)}`

export class DiskFiles implements HostFiles {
  readonly #disk: Disk
  readonly #watchers = new Set<{ readonly paths: readonly string[]; readonly onChange: () => void }>()

  constructor(disk: Disk) {
    this.#disk = disk
  }

  async look(path: string): Promise<FileLook> {
    const kept = await this.#find(path)
    if (!kept) return { kind: 'none' }
    const { mode, owner, group, content } = kept
    return { kind: 'file', mode, owner, group, bytes: content.length, modifiedMs: 0 }
  }

  async read(path: string): Promise<string | undefined> {
    return (await this.#find(path))?.content
  }

  async sha256(path: string): Promise<string | undefined> {
    return (await this.#find(path))?.sha256
  }

  async write(path: string, content: string, attributes: FileAttributes): Promise<void> {
    await this.#disk.makeFolder(`${pretendFolder}/files`)
    const kept: Kept = { ...attributes, content, sha256: createHash('sha256').update(content).digest('hex') }
    await writeDurably(this.#disk, place(path), JSON.stringify(kept))
    this.#tell(path)
  }

  async rename(from: string, to: string): Promise<void> {
    await this.#disk.rename(place(from), place(to))
    await this.#disk.syncFolder(`${pretendFolder}/files`)
    this.#tell(from)
    this.#tell(to)
  }

  async remove(path: string): Promise<void> {
    if (!(await this.#find(path))) return
    await this.#disk.remove(place(path))
    await this.#disk.syncFolder(`${pretendFolder}/files`)
    this.#tell(path)
  }

  async names(folder: string): Promise<readonly string[]> {
    const paths = (await this.#disk.names(`${pretendFolder}/files`)).map(decodeURIComponent)
    const inside = paths.filter((path) => path.startsWith(`${folder}/`)).map((path) => path.slice(folder.length + 1))
    return [...new Set(inside.map((rest) => rest.split('/')[0] ?? ''))].sort()
  }

  freeBytes(): Promise<number> {
    return Promise.resolve(50 * 1024 ** 3)
  }

  watch(paths: readonly string[], onChange: () => void, signal: AbortSignal): Promise<void> {
    const watcher = { paths, onChange }
    this.#watchers.add(watcher)
    return new Promise((resolve) => {
      const end = () => {
        this.#watchers.delete(watcher)
        resolve()
      }
      if (signal.aborted) end()
      else signal.addEventListener('abort', end, { once: true })
    })
  }

  #tell(path: string): void {
    for (const { paths, onChange } of this.#watchers) if (paths.includes(path)) onChange()
  }

  async #find(path: string): Promise<Kept | undefined> {
    const text = await this.#disk.read(place(path))
    return text === undefined || text === '' ? undefined : (JSON.parse(text) as Kept)
  }
}
