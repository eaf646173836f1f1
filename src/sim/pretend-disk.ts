// A disk with a page cache: what was not synced may be lost with the power. Content is safe after `sync` of the file, a name
// after `syncFolder` of its folder; of the rest a seeded choice survives, names in the order they were changed.

import { SlipwayError } from '../api/slipway-error.ts'
import type { Disk } from '../ports/disk.ts'
import type { SeededRandom } from './seeded-random.ts'

interface File {
  content: string
  synced: string | undefined
}

/** A change of names that the disk has not been told to keep yet. */
interface NameChange {
  readonly path: string
  /** Undefined: the name is gone. */
  readonly file: File | undefined
}

export class PretendDisk implements Disk {
  #files = new Map<string, File>()
  #durable = new Map<string, File>()
  #folders = new Set<string>(['/'])
  #pending: NameChange[] = []

  async read(path: string): Promise<string | undefined> {
    return this.#files.get(path)?.content
  }

  async readTail(path: string, bytes: number): Promise<string | undefined> {
    return this.#files.get(path)?.content.slice(-bytes)
  }

  async write(path: string, content: string, _mode: number): Promise<void> {
    const known = this.#files.get(path)
    if (known !== undefined) {
      known.content = content
      return
    }
    this.#mustBeFolder(folderOf(path))
    this.#name(path, { content, synced: undefined })
  }

  async sync(path: string): Promise<void> {
    const file = this.#mustGet(path)
    file.synced = file.content
  }

  async rename(from: string, to: string): Promise<void> {
    const file = this.#mustGet(from)
    this.#mustBeFolder(folderOf(to))
    this.#name(to, file)
    this.#name(from, undefined)
  }

  async remove(path: string): Promise<void> {
    this.#mustGet(path)
    this.#name(path, undefined)
  }

  async makeFolder(path: string): Promise<void> {
    for (let folder = path; folder !== '/' && folder !== ''; folder = folderOf(folder)) this.#folders.add(folder)
  }

  async syncFolder(path: string): Promise<void> {
    this.#mustBeFolder(path)
    const later: NameChange[] = []
    for (const change of this.#pending) {
      if (folderOf(change.path) === path) this.#keep(change)
      else later.push(change)
    }
    this.#pending = later
  }

  async names(path: string): Promise<readonly string[]> {
    const prefix = path.endsWith('/') ? path : `${path}/`
    const found = new Set<string>()
    for (const known of [...this.#files.keys(), ...this.#folders]) {
      if (!known.startsWith(prefix) || known.length === prefix.length) continue
      const rest = known.slice(prefix.length)
      const slash = rest.indexOf('/')
      found.add(slash < 0 ? rest : rest.slice(0, slash))
    }
    return [...found].sort()
  }

  async removeFolder(path: string): Promise<void> {
    for (const known of [...this.#files.keys()]) if (known.startsWith(`${path}/`)) this.#name(known, undefined)
    for (const folder of [...this.#folders]) {
      if (folder === path || folder.startsWith(`${path}/`)) this.#folders.delete(folder)
    }
  }

  /** The power goes: of what was not synced, chance decides what is there afterwards. */
  losePower(random: SeededRandom): void {
    const kept = random.whole(0, this.#pending.length)
    for (const change of this.#pending.slice(0, kept)) this.#keep(change)
    this.#pending = []
    this.#files = new Map()
    this.#folders = new Set(['/'])
    for (const [path, file] of this.#durable) {
      const content = survivor(file, random)
      this.#files.set(path, { content, synced: content })
      void this.makeFolder(folderOf(path))
    }
    this.#durable = new Map(this.#files)
  }

  #name(path: string, file: File | undefined): void {
    if (file === undefined) this.#files.delete(path)
    else this.#files.set(path, file)
    this.#pending.push({ path, file })
  }

  #keep({ path, file }: NameChange): void {
    if (file === undefined) this.#durable.delete(path)
    else this.#durable.set(path, file)
  }

  #mustGet(path: string): File {
    const file = this.#files.get(path)
    if (file === undefined) throw new SlipwayError('DiskFailed', `${path}: no such file`)
    return file
  }

  #mustBeFolder(path: string): void {
    if (!this.#folders.has(path)) throw new SlipwayError('DiskFailed', `${path}: no such folder`)
  }
}

/** Old, new, half or nothing: a disk promises no more for content that was not synced. */
function survivor(file: File, random: SeededRandom): string {
  if (file.synced === file.content) return file.content
  const choices = [file.synced ?? '', file.content, file.content.slice(0, file.content.length >> 1), ''] as const
  return random.pick(choices)
}

function folderOf(path: string): string {
  const slash = path.lastIndexOf('/')
  return slash <= 0 ? '/' : path.slice(0, slash)
}
