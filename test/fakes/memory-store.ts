import type { BackupSecrets, StorePlace } from '../../src/api/backup.ts'
import type { BackupStores, OpenStore, StoredObject } from '../../src/ports/backup-store.ts'

/** A backup store in memory, whole or not at all as all of them; a test may stand in its way. */
export class MemoryStore implements BackupStores, OpenStore {
  readonly objects = new Map<string, Buffer>()
  readonly puts: string[] = []
  readonly removed: string[] = []
  readonly opened: { readonly place: StorePlace; readonly secrets: BackupSecrets['store'] }[] = []
  /** How many have it open. */
  open_ = 0
  /** Called before each operation; what it throws or never resolves is what the store does. */
  before: (what: 'open' | 'put' | 'get' | 'list' | 'remove', name: string, signal: AbortSignal) => Promise<void> = () =>
    Promise.resolve()
  /** What comes of what was stored. */
  altered: (name: string, content: Buffer) => Buffer = (_, content) => content

  async open(place: StorePlace, secrets: BackupSecrets['store'], signal: AbortSignal): Promise<OpenStore> {
    await this.before('open', '', signal)
    this.opened.push({ place, secrets })
    this.open_ += 1
    return this
  }

  location(name: string): string {
    return `memory://${name}`
  }

  async put(name: string, content: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void> {
    await this.before('put', name, signal)
    const pieces: Uint8Array[] = []
    for await (const piece of content) pieces.push(Buffer.from(piece))
    signal.throwIfAborted()
    this.puts.push(name)
    this.objects.set(name, this.altered(name, Buffer.concat(pieces)))
  }

  async get(name: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array> | undefined> {
    await this.before('get', name, signal)
    const found = this.objects.get(name)
    return found && inPieces(found)
  }

  async list(signal: AbortSignal): Promise<readonly StoredObject[]> {
    await this.before('list', '', signal)
    return [...this.objects].map(([name, content]) => ({ name, bytes: content.length }))
  }

  async remove(name: string, signal: AbortSignal): Promise<void> {
    await this.before('remove', name, signal)
    if (this.objects.delete(name)) this.removed.push(name)
  }

  close(): Promise<void> {
    this.open_ -= 1
    return Promise.resolve()
  }
}

async function* inPieces(content: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < content.length; at += 1000) yield content.subarray(at, at + 1000)
}
