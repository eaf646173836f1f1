import { type BackupManifest, type KeptStore, keptStoreSchema } from '../../api/backup.ts'
import { snapshotStatusSchema } from '../../api/etcd-gateway.ts'
import type { RestoreRecord, RestoreSource } from '../../api/restore-record.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import { readSite, restoredMembers, stoppedComponents } from '../../core/restore/member-site.ts'
import type { ScratchLook } from '../../core/restore/proof.ts'
import { hasRun, restoreIdOf, whyNoRestoreId } from '../../core/restore/restore-id.ts'
import { planRestore } from '../../core/restore/restore-plan.ts'
import type { BackupCodec } from '../../ports/backup-codec.ts'
import type {
  BackupPlace,
  BackupShelf,
  CheckedBackup,
  PlannedRestore,
  RestoreWishes,
} from '../../ports/backup-shelf.ts'
import type { BackupStore, BackupStores } from '../../ports/backup-store.ts'
import type { Random } from '../../ports/random.ts'
import { keptStoreFile } from '../backup/backup-record.ts'
import { readManifests } from '../backup/manifests.ts'
import { gatewayOf } from '../control-plane/find-etcd.ts'
import { isHostService, readEtcdSettings } from '../drivers/etcd/host-service.ts'
import { unseal } from '../journal/sealed-file.ts'
import { RestoreRun } from './restore-run.ts'
import type { RestoreTools } from './restore-steps.ts'

type Bytes = AsyncIterable<Uint8Array>

export interface ShelfParts extends Omit<RestoreTools, 'tell'> {
  readonly stores: BackupStores
  readonly codec: BackupCodec
  readonly random: Random
  readonly stateDir: string
  /** The folder the kubelet takes static pods from. */
  readonly manifests: string
  /** Restores it into a scratch etcd. */
  readonly prove: (snapshot: Bytes, manifest: BackupManifest, signal: AbortSignal) => Promise<ScratchLook>
  /** The path of an etcdutl that opens a snapshot of that version, and its own version. */
  readonly etcdutl: (
    snapshot: string | undefined,
    signal: AbortSignal,
  ) => Promise<{ readonly path: string; readonly version: string }>
  readonly openFile: (path: string) => Bytes
  readonly keepFile: (path: string, content: Bytes, signal: AbortSignal) => Promise<void>
  /** SHA-256 and size of a file. */
  readonly sum: (path: string) => Promise<{ readonly sha256: string; readonly bytes: number }>
}

export class HostShelf implements BackupShelf {
  readonly #parts: ShelfParts

  constructor(parts: ShelfParts) {
    this.#parts = parts
  }

  async list(place: BackupPlace, signal: AbortSignal): Promise<readonly BackupManifest[]> {
    if (place.file !== undefined) return [await this.#ofFile(place.file, signal)]
    return this.#inStore(place, signal, async (store) =>
      (await readManifests(store, signal)).map(({ manifest }) => manifest),
    )
  }

  async check(
    place: BackupPlace,
    name: string | undefined,
    restore: boolean,
    signal: AbortSignal,
  ): Promise<CheckedBackup> {
    return this.#read(place, name, signal, async (manifest, location, content) => {
      // The proof reads to the end; the end is where the sums are held against the manifest.
      const look = restore ? await this.#parts.prove(content, manifest, signal) : await drained(content)
      return { manifest, location, ...(look && { look }) }
    })
  }

  pending(): Promise<RestoreRecord | undefined> {
    return this.#run(() => undefined).pending()
  }

  async plan(
    place: BackupPlace,
    { name, members, restoreId }: RestoreWishes,
    signal: AbortSignal,
  ): Promise<PlannedRestore> {
    const { host, manifests, clock, random, keepFile } = this.#parts
    await this.#refuseId(restoreId)
    const texts: Record<string, string> = {}
    for (const component of stoppedComponents) {
      const text = await host.files.read(`${manifests}/${component}.yaml`)
      if (text !== undefined) texts[component] = text
    }
    const isService = texts.etcd === undefined && (await isHostService(host, signal))
    const service = isService ? await readEtcdSettings(host, signal) : undefined
    const found = readSite({ manifests, texts, service })
    if ('missing' in found) throw refused(found.missing)
    const { site } = found
    const told = restoredMembers(
      site,
      members,
      members === undefined ? await this.#listed(found.site, signal) : undefined,
    )
    if ('wrong' in told) throw refused(told.wrong)
    const snapshot = `${this.#folder}/snapshot.db`
    const backup = await this.#read(place, name, signal, async (manifest, _, content) => {
      await host.disk.makeFolder(this.#folder)
      await keepFile(snapshot, content, signal)
      return manifest
    })
    const etcdutl = await this.#parts.etcdutl(backup.etcd, signal)
    const source = await this.#source(place)
    const wish = {
      restoreId: restoreId ?? restoreIdOf(random.uuid()),
      isFirst: restoreId === undefined,
      site,
      members: told.members,
      backup,
      etcdutl: etcdutl.path,
      snapshot,
      source,
      startedAt: clock.now(),
    }
    return { record: planRestore(wish), from: told.from }
  }

  carryOut(record: RestoreRecord, tell: (line: string) => void, signal: AbortSignal): Promise<void> {
    return this.#run(tell).carryOut(record, signal)
  }

  undo(record: RestoreRecord, tell: (line: string) => void, signal: AbortSignal): Promise<void> {
    return this.#run(tell).undo(record, signal)
  }

  async #refuseId(restoreId: string | undefined): Promise<void> {
    const why = restoreId === undefined ? undefined : whyNoRestoreId(restoreId)
    if (why !== undefined) {
      throw new SlipwayError('Usage', why, { nextStep: 'give it as the first host printed it, or leave it out there' })
    }
    if (restoreId === undefined || !hasRun(await this.#run(() => undefined).past(), restoreId)) return
    throw new SlipwayError('Refused', `the restore ${restoreId} was carried out on this host already`, {
      nextStep: 'to restore once more, begin on the first host without --restore-id, and give all others the new one',
    })
  }

  /** What etcd of this host still knows of its members; undefined where it does not answer. */
  async #listed(site: PlannedRestore['record']['site'], signal: AbortSignal) {
    const { host, requests } = this.#parts
    try {
      const gateway = await gatewayOf(host, requests, { endpoints: [site.etcd.url], ...site.etcd })
      return await gateway.membersKnown(site.etcd.url, signal)
    } catch (error) {
      if (signal.aborted || !(error instanceof SlipwayError) || error.code !== 'CannotReach') throw error
      return undefined
    }
  }

  async #read<T>(
    place: BackupPlace,
    name: string | undefined,
    signal: AbortSignal,
    use: (manifest: BackupManifest, location: string, content: Bytes) => Promise<T>,
  ): Promise<T> {
    if (place.file !== undefined) {
      return use(await this.#ofFile(place.file, signal), place.file, this.#parts.openFile(place.file))
    }
    return this.#inStore(place, signal, async (store, key) => {
      const all = (await readManifests(store, signal)).map(({ manifest }) => manifest)
      const manifest = name === undefined ? all[0] : all.find((each) => each.name === name)
      if (!manifest) {
        const known = all.slice(0, 5).map((each) => each.name)
        throw new SlipwayError('NotFound', `${store.location(name ?? '')} holds no such backup`, {
          nextStep: known.length > 0 ? `it has ${known.join(', ')}` : 'look at the place and its credentials',
        })
      }
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

  async #settings({ folder, settings }: BackupPlace): Promise<Pick<KeptStore, 'store' | 'secrets'>> {
    if (folder !== undefined) return { store: { name: 'folder', path: folder }, secrets: {} }
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
  async #source(place: BackupPlace): Promise<RestoreSource> {
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
    throw new SlipwayError('NotFound', `${path} is not there`, { nextStep: 'correct the path' })
  }

  /** A bare snapshot tells of itself what it can. */
  async #ofFile(file: string, signal: AbortSignal): Promise<BackupManifest> {
    const { host, clock, sum } = this.#parts
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

  #run(tell: (line: string) => void): RestoreRun {
    const { host, requests, clock } = this.#parts
    return new RestoreRun({ host, requests, clock, tell }, this.#folder)
  }

  get #kept(): string {
    return `${this.#parts.stateDir}/${keptStoreFile}`
  }

  get #folder(): string {
    return `${this.#parts.stateDir}/restore`
  }
}

function settingsOf(path: string, text: string): Pick<KeptStore, 'store' | 'secrets'> {
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

function refused(message: string): SlipwayError {
  return new SlipwayError('Refused', message, { nextStep: 'run it on a control-plane host that runs etcd' })
}

async function drained(content: Bytes): Promise<undefined> {
  for await (const _ of content);
}
