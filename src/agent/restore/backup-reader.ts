// Backups where a person says they are: in a store, in a folder, or as a bare snapshot.

import { type BackupManifest, type KeptStore, keptStoreSchema } from '../../api/backup.ts'
import { snapshotStatusSchema } from '../../api/etcd-gateway.ts'
import type { RestoreSource } from '../../api/restore-record.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import { isWhole } from '../../core/backup/retention.ts'
import { chooseBackup, clustersOf } from '../../core/restore/backup-choice.ts'
import type { BackupCodec } from '../../ports/backup-codec.ts'
import type { BackupPlace } from '../../ports/backup-shelf.ts'
import type { BackupStore, BackupStores } from '../../ports/backup-store.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Host } from '../../ports/host.ts'
import { keptStoreFile } from '../backup/backup-record.ts'
import { type FoundManifest, readManifestOf, readManifests } from '../backup/manifests.ts'
import { readSealed, unseal } from '../journal/sealed-file.ts'

type Bytes = AsyncIterable<Uint8Array>
type Settings = Pick<KeptStore, 'store' | 'secrets'> & Partial<Pick<KeptStore, 'manifest'>>

export interface ReaderParts {
  readonly host: Host
  readonly clock: Clock
  readonly stores: BackupStores
  readonly codec: BackupCodec
  readonly stateDir: string
  /** The path of an etcdutl that opens a snapshot of that version, and its own version. */
  readonly etcdutl: (
    snapshot: string | undefined,
    signal: AbortSignal,
  ) => Promise<{ readonly path: string; readonly version: string }>
  readonly openFile: (path: string) => Bytes
  /** SHA-256 and size of a file. */
  readonly sum: (path: string) => Promise<{ readonly sha256: string; readonly bytes: number }>
}

export interface WantedBackup {
  readonly name: string | undefined
  /** By which the cluster of this host is known; asked where no name says which one is meant. */
  readonly own: (clusters: readonly string[]) => Promise<readonly string[]>
}

export class BackupReader {
  readonly #parts: ReaderParts

  constructor(parts: ReaderParts) {
    this.#parts = parts
  }

  async list(place: BackupPlace, signal: AbortSignal): Promise<readonly BackupManifest[]> {
    if (place.file !== undefined) return [await this.#ofFile(place.file, signal)]
    return this.#inStore(place, signal, async (store) =>
      (await readManifests(store, signal)).map(({ manifest }) => manifest),
    )
  }

  async read<T>(
    place: BackupPlace,
    wanted: WantedBackup,
    signal: AbortSignal,
    use: (manifest: BackupManifest, location: string, content: Bytes) => Promise<T>,
  ): Promise<T> {
    if (place.file !== undefined) {
      return use(await this.#ofFile(place.file, signal), place.file, this.#parts.openFile(place.file))
    }
    return this.#inStore(place, signal, async (store, key) => {
      const manifest = await found(store, wanted, signal)
      const location = store.location(manifest.name)
      const stored = await store.get(manifest.name, signal)
      if (!stored) throw new SlipwayError('BackupDamaged', `${location} is not there, though its manifest is`)
      return use(manifest, location, this.#parts.codec.decode(stored, manifest, key))
    })
  }

  async #inStore<T>(
    place: BackupPlace,
    signal: AbortSignal,
    use: (store: BackupStore, key: string | undefined) => Promise<T>,
  ): Promise<T> {
    const { store: settings, secrets } = await this.#settings(place)
    const key = place.keyFile === undefined ? secrets.encryption?.key : await this.#text(place.keyFile)
    const store = await this.#parts.stores.open(settings, secrets.store, signal)
    try {
      return await use(store, key)
    } finally {
      await store.close()
    }
  }

  /** The cluster that the settings, or the note of this host, tell of; undefined where there is neither. */
  async notedCluster({ settings }: BackupPlace): Promise<string | undefined> {
    if (settings !== undefined) {
      const given = settingsOf(settings, await this.#text(settings)).manifest?.cluster
      if (given !== undefined) return given
    }
    // A note that is broken tells nothing, and must not stand in the way of a backup that lies elsewhere.
    const note = await readSealed(this.#parts.host.disk, this.#kept, keptStoreSchema).catch(() => undefined)
    return note?.manifest.cluster
  }

  async #settings({ folder, settings }: BackupPlace): Promise<Settings> {
    if (folder !== undefined) {
      // From a container there is no folder of the host to begin at.
      if (!folder.startsWith('/')) throw missing(`the folder ${folder} is not named from / on`)
      const { kind } = await this.#parts.host.files.look(folder)
      if (kind === 'none') throw missing(`there is no folder ${folder}`)
      if (kind === 'file') throw missing(`${folder} is a file, no folder with backups`)
      return { store: { name: 'folder', path: folder }, secrets: {} }
    }
    if (settings !== undefined) return settingsOf(settings, await this.#text(settings))
    const kept = this.#kept
    const text = await this.#parts.host.disk.read(kept)
    if (text !== undefined) return unseal(kept, text, keptStoreSchema)
    throw new SlipwayError('NotFound', `no backup is known here: ${kept} is not there`, {
      nextStep:
        'copy it from the control-plane host that made the last backup and name the copy with --settings, or say where backups are with --folder or --file',
    })
  }

  /** The files of this host that a restore elsewhere lacks. */
  async source(place: BackupPlace): Promise<RestoreSource> {
    const { file, folder, settings, keyFile } = place
    if (file !== undefined) return { file }
    const key = keyFile === undefined ? {} : { keyFile }
    if (folder !== undefined) return { folder, ...key }
    const { path } = (await this.#settings(place)).store
    return { settings: settings ?? this.#kept, ...(path !== undefined && { folder: path }), ...key }
  }

  async #text(path: string): Promise<string> {
    const text = await this.#parts.host.disk.read(path)
    if (text !== undefined) return text.trim()
    throw missing(`${path} is not there`)
  }

  /** A bare snapshot tells of itself what it can. */
  async #ofFile(file: string, signal: AbortSignal): Promise<BackupManifest> {
    const { host, clock, sum } = this.#parts
    // As this process sees it, which reads it itself.
    if ((await host.disk.bytes(file)) === undefined) throw missing(`there is no file ${file}`)
    const etcdutl = await this.#parts.etcdutl(undefined, signal)
    const { sha256, bytes } = await sum(file)
    const argv = [etcdutl.path, 'snapshot', 'status', file, '--write-out=json']
    const { exitCode, stdout, stderr } = await host.run({ argv, timeoutMs: 600_000 }, signal)
    if (exitCode !== 0) {
      const said = stderr.trim().split('\n').at(-1)
      throw new SlipwayError('BackupDamaged', `${file} is no snapshot of etcd: ${said}`, {
        nextStep: 'use another one',
      })
    }
    const { revision, version } = snapshotStatusSchema.parse(JSON.parse(stdout))
    return {
      name: 'snapshot',
      at: clock.now().toISOString(),
      node: '',
      etcd: version || etcdutl.version,
      revision: String(revision),
      sha256,
      bytes,
      snapshotSha256: sha256,
      snapshotBytes: bytes,
      compression: 'zstd',
      verified: 'Hash',
    }
  }

  get #kept(): string {
    return `${this.#parts.stateDir}/${keptStoreFile}`
  }
}

async function found(store: BackupStore, { name, own }: WantedBackup, signal: AbortSignal): Promise<BackupManifest> {
  // Of the others nothing is asked: one that is broken must not keep this one back.
  const named = name === undefined ? undefined : await readManifestOf(store, name, signal)
  if (named) return named
  const all = await readManifests(store, signal)
  if (name !== undefined) throw noSuchBackup(store, name, all)
  // A manifest alone restores nothing, and an older backup that is whole does.
  const whole = all.filter(isWhole).map(({ manifest }) => manifest)
  const choice = chooseBackup(whole, await own(clustersOf(whole)))
  if ('chosen' in choice) return choice.chosen
  if ('none' in choice) throw noBackup(store, all)
  throw new SlipwayError('Refused', `no backup of ${placeName(store)} is chosen: ${choice.unclear}`, {
    nextStep: 'name the backup that is meant; slipway backup restore --list shows which is of which cluster',
  })
}

function noSuchBackup(store: BackupStore, name: string, all: readonly FoundManifest[]): SlipwayError {
  if (all.length === 0) return noBackup(store, all)
  const known = all.slice(0, 5).map(({ manifest }) => manifest.name)
  return new SlipwayError('NotFound', `${placeName(store)} holds no such backup as ${name}`, {
    nextStep: `it has ${known.join(', ')}${all.length > known.length ? ', …' : ''}`,
  })
}

function noBackup(store: BackupStore, all: readonly FoundManifest[]): SlipwayError {
  if (all.length === 0) {
    return new SlipwayError('NotFound', `${placeName(store)} holds no backup`, {
      nextStep: 'look whether it is the right place; a backup is NAME with NAME.json beside it',
    })
  }
  return new SlipwayError(
    'NotFound',
    `${placeName(store)} holds no whole backup: all there are have lost their object, or it is of another size`,
    { nextStep: 'look for the objects, or for another store; slipway backup verify NAME says what is wrong with one' },
  )
}

function placeName(store: BackupStore): string {
  return store.location('').replace(/\/$/, '')
}

function missing(message: string): SlipwayError {
  return new SlipwayError('NotFound', message, { nextStep: 'correct the path' })
}

function settingsOf(path: string, text: string): Settings {
  if (/"sha256"/.test(text) && /"content"/.test(text)) return unseal(path, text, keptStoreSchema)
  const parsed = keptStoreSchema.pick({ store: true, secrets: true }).safeParse(jsonOf(text))
  if (parsed.success) return parsed.data
  throw new SlipwayError('Usage', `${path} does not hold a store and its secrets: ${parsed.error.message}`, {
    nextStep: 'give a file as the agent keeps it, or { "store": { … }, "secrets": { … } }',
  })
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
