// A disk with a page cache: what was not synced may be lost with the power. Content is safe after `sync` of the file, a name
// after `syncFolder` of its folder; of the rest a seeded choice survives, names in the order they were changed.

import { SlipwayError } from '../api/slipway-error.ts'
import type { Disk, Excerpt } from '../ports/disk.ts'
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
  /** Each entry is kept or lost as a whole: a rename is one. */
  #pending: (readonly NameChange[])[] = []

  async read(path: string): Promise<string | undefined> {
    return this.#files.get(path)?.content
  }

  async readTail(path: string, bytes: number): Promise<string | undefined> {
    return this.#files.get(path)?.content.slice(-bytes)
  }

  async readFrom(path: string, offset: number, maxBytes: number): Promise<Excerpt | undefined> {
    const text = this.#files.get(path)?.content.slice(offset, offset + maxBytes)
    return text === undefined ? undefined : { text, bytes: text.length }
  }

  async bytes(path: string): Promise<number | undefined> {
    return this.#files.get(path)?.content.length
  }

  async write(path: string, content: string, _mode: number): Promise<void> {
    const known = this.#files.get(path)
    if (known !== undefined) {
      known.content = content
      return
    }
    this.#mustBeFolder(folderOf(path))
    this.#change({ path, file: { content, synced: undefined } })
  }

  async sync(path: string): Promise<void> {
    const file = this.#mustGet(path)
    file.synced = file.content
  }

  async rename(from: string, to: string): Promise<void> {
    const file = this.#mustGet(from)
    this.#mustBeFolder(folderOf(to))
    this.#change({ path: to, file }, { path: from, file: undefined })
  }

  async remove(path: string): Promise<void> {
    this.#mustGet(path)
    this.#change({ path, file: undefined })
  }

  async makeFolder(path: string): Promise<void> {
    for (let folder = path; folder !== '/' && folder !== ''; folder = folderOf(folder)) this.#folders.add(folder)
  }

  async syncFolder(path: string): Promise<void> {
    this.#mustBeFolder(path)
    this.#pending = this.#pending.filter((changes) => {
      if (!changes.some((one) => folderOf(one.path) === path)) return true
      this.#keep(changes)
      return false
    })
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
    for (const known of [...this.#files.keys()])
      if (known.startsWith(`${path}/`)) this.#change({ path: known, file: undefined })
    for (const folder of [...this.#folders]) {
      if (folder === path || folder.startsWith(`${path}/`)) this.#folders.delete(folder)
    }
  }

  /** The power goes: of what was not synced, chance decides what is there afterwards. */
  losePower(random: SeededRandom): void {
    const kept = random.whole(0, this.#pending.length)
    for (const changes of this.#pending.slice(0, kept)) this.#keep(changes)
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

  #change(...changes: readonly NameChange[]): void {
    apply(this.#files, changes)
    this.#pending.push(changes)
  }

  #keep(changes: readonly NameChange[]): void {
    apply(this.#durable, changes)
  }

  #mustGet(path: string): File {
    const file = this.#files.get(path)
    if (file === undefined) throw new SlipwayError('DiskNotFound', `${path}: no such file`, { path })
    return file
  }

  #mustBeFolder(path: string): void {
    if (!this.#folders.has(path)) throw new SlipwayError('DiskNotFound', `${path}: no such folder`, { path })
  }
}

function apply(files: Map<string, File>, changes: readonly NameChange[]): void {
  for (const { path, file } of changes) {
    if (file === undefined) files.delete(path)
    else files.set(path, file)
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
