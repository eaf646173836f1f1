import { SlipwayError } from '../../src/api/slipway-error.ts'
import type { Disk, Excerpt } from '../../src/ports/disk.ts'

interface File {
  content: string
  synced: string | undefined
}

/**
 * A disk with a page cache, harsher than the simulator's: of what was not synced each name, folder and content is kept or lost
 * on its own, in no order. `budget` operations go well, the one after them never ends: the caller is dead.
 */
export class MemoryDisk implements Disk {
  files = new Map<string, File>()
  durable = new Map<string, File>()
  folders = new Set(['/'])
  durableFolders = new Set(['/'])
  operations = 0
  budget = Number.POSITIVE_INFINITY
  onSpent: () => void = () => undefined
  failing: 'DiskFull' | undefined

  read(path: string): Promise<string | undefined> {
    return this.#operate(() => this.files.get(path)?.content)
  }

  readTail(path: string, bytes: number): Promise<string | undefined> {
    return this.#operate(() => this.files.get(path)?.content.slice(-bytes))
  }

  readFrom(path: string, offset: number, maxBytes: number): Promise<Excerpt | undefined> {
    return this.#operate(() => {
      const text = this.files.get(path)?.content.slice(offset, offset + maxBytes)
      return text === undefined ? undefined : { text, bytes: text.length }
    })
  }

  bytes(path: string): Promise<number | undefined> {
    return this.#operate(() => this.files.get(path)?.content.length)
  }

  write(path: string, content: string): Promise<void> {
    return this.#operate(() => {
      this.#fail(path)
      if (!this.folders.has(parent(path))) throw notFound(path)
      const file = this.files.get(path)
      if (file) file.content = content
      else this.files.set(path, { content, synced: undefined })
    })
  }

  sync(path: string): Promise<void> {
    return this.#operate(() => {
      this.#fail(path)
      const file = this.files.get(path)
      if (!file) throw notFound(path)
      file.synced = file.content
    })
  }

  rename(from: string, to: string): Promise<void> {
    return this.#operate(() => {
      const file = this.files.get(from)
      if (!file) throw notFound(from)
      this.files.delete(from)
      this.files.set(to, file)
    })
  }

  remove(path: string): Promise<void> {
    return this.#operate(() => {
      if (!this.files.delete(path)) throw notFound(path)
    })
  }

  makeFolder(path: string): Promise<void> {
    return this.#operate(() => {
      for (let folder = path; folder !== '/'; folder = parent(folder)) this.folders.add(folder)
    })
  }

  syncFolder(path: string): Promise<void> {
    return this.#operate(() => {
      for (const [name, file] of this.files) if (parent(name) === path) this.durable.set(name, file)
      for (const name of this.durable.keys()) {
        if (parent(name) === path && !this.files.has(name)) this.durable.delete(name)
      }
      for (const folder of this.folders) if (parent(folder) === path) this.durableFolders.add(folder)
    })
  }

  names(path: string): Promise<readonly string[]> {
    return this.#operate(() =>
      [...this.files.keys(), ...this.folders]
        .filter((name) => name !== '/' && parent(name) === path)
        .map((name) => name.slice(name.lastIndexOf('/') + 1))
        .sort(),
    )
  }

  removeFolder(path: string): Promise<void> {
    return this.#operate(() => {
      for (const name of this.files.keys()) if (name.startsWith(`${path}/`)) this.files.delete(name)
      for (const name of this.folders) if (name === path || name.startsWith(`${path}/`)) this.folders.delete(name)
    })
  }

  /** What the host's own wrapper does: at once, and durable. */
  putResult(path: string, content: string): void {
    const file = { content, synced: content }
    this.files.set(path, file)
    this.durable.set(path, file)
  }

  /** The disk as it is found after the power came back; `chance` decides about everything that was not synced. */
  afterPowerLoss(chance: () => number): MemoryDisk {
    const disk = new MemoryDisk()
    const folders = [...this.folders].sort()
    for (const folder of folders) {
      const kept = this.durableFolders.has(folder) || chance() < 0.5
      if (folder === '/' || (kept && disk.folders.has(parent(folder)))) disk.folders.add(folder)
    }
    disk.durableFolders = new Set(disk.folders)
    for (const path of new Set([...this.files.keys(), ...this.durable.keys()])) {
      if (!disk.folders.has(parent(path))) continue
      const now = this.files.get(path)
      const before = this.durable.get(path)
      const file = now === before || chance() < 0.5 ? now : before
      if (!file) continue
      const content = file.content === file.synced ? file.synced : torn(file, chance)
      disk.putResult(path, content)
    }
    return disk
  }

  #fail(path: string): void {
    if (this.failing) throw new SlipwayError(this.failing, 'no space left on the pretend disk', { path })
  }

  #operate<T>(act: () => T): Promise<T> {
    if (this.operations >= this.budget) {
      this.onSpent()
      return new Promise(() => undefined)
    }
    this.operations += 1
    try {
      return Promise.resolve(act())
    } catch (error) {
      return Promise.reject(error)
    }
  }
}

function torn(file: File, chance: () => number): string {
  const kinds = [file.synced ?? '', file.content, file.content.slice(0, file.content.length / 2), '\0'.repeat(16)]
  return kinds[Math.floor(chance() * kinds.length)] ?? ''
}

function parent(path: string): string {
  return path.slice(0, path.lastIndexOf('/')) || '/'
}

function notFound(path: string): SlipwayError {
  return new SlipwayError('DiskNotFound', `${path} is not there`, { path })
}
