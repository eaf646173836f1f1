import type { BackupManifest } from '../../api/backup.ts'
import type { RestoreRecord } from '../../api/restore-record.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import { otherCluster, ownClusters } from '../../core/restore/backup-choice.ts'
import { restoredMembers, type SiteFinding } from '../../core/restore/member-site.ts'
import type { ScratchLook } from '../../core/restore/proof.ts'
import { hasRun, restoreIdOf, whyNoRestoreId } from '../../core/restore/restore-id.ts'
import { planRestore } from '../../core/restore/restore-plan.ts'
import type {
  BackupPlace,
  BackupShelf,
  CheckedBackup,
  PlannedRestore,
  RestoreWishes,
} from '../../ports/backup-shelf.ts'
import type { Random } from '../../ports/random.ts'
import { gatewayOf } from '../control-plane/find-etcd.ts'
import { BackupReader, type ReaderParts } from './backup-reader.ts'
import { clusterOfSite, findSite, unreadable } from './host-site.ts'
import { RestoreRun } from './restore-run.ts'
import type { RestoreTools } from './restore-steps.ts'

type Bytes = AsyncIterable<Uint8Array>

export interface ShelfParts extends Omit<RestoreTools, 'tell'>, ReaderParts {
  readonly random: Random
  /** The folder the kubelet takes static pods from. */
  readonly manifests: string
  /** Restores it into a scratch etcd. */
  readonly prove: (snapshot: Bytes, manifest: BackupManifest, signal: AbortSignal) => Promise<ScratchLook>
  readonly keepFile: (path: string, content: Bytes, signal: AbortSignal) => Promise<void>
}

export class HostShelf implements BackupShelf {
  readonly #parts: ShelfParts
  readonly #reader: BackupReader

  constructor(parts: ShelfParts) {
    this.#parts = parts
    this.#reader = new BackupReader(parts)
  }

  list(place: BackupPlace, signal: AbortSignal): Promise<readonly BackupManifest[]> {
    return this.#reader.list(place, signal)
  }

  async check(
    place: BackupPlace,
    name: string | undefined,
    restore: boolean,
    signal: AbortSignal,
  ): Promise<CheckedBackup> {
    // Anywhere, also where no cluster is: only where there is something to tell apart the host is looked at.
    const own = async (clusters: readonly string[]) => (clusters.length > 1 ? this.#own(place, signal) : [])
    return this.#reader.read(place, { name, own }, signal, async (manifest, location, content) => {
      // The proof reads to the end; the end is where the sums are held against the manifest.
      const look = restore ? await this.#parts.prove(content, manifest, signal) : await drained(content)
      return { manifest, location, ...(look && { look }) }
    })
  }

  pending(): Promise<RestoreRecord | undefined> {
    return this.#run(() => undefined).pending()
  }

  async plan(place: BackupPlace, wishes: RestoreWishes, signal: AbortSignal): Promise<PlannedRestore> {
    try {
      return await this.#plan(place, wishes, signal)
    } catch (error) {
      // Why there is no plan is what counts.
      await this.#discard(this.#snapshot).catch(() => undefined)
      throw error
    }
  }

  async #plan(
    place: BackupPlace,
    { name, members, restoreId }: RestoreWishes,
    signal: AbortSignal,
  ): Promise<PlannedRestore> {
    const { host, manifests, clock, random, keepFile } = this.#parts
    await this.#refuseId(restoreId)
    const found = await findSite(host, manifests, signal)
    if ('missing' in found) throw refused(found.missing)
    const { site } = found
    const told = restoredMembers(
      site,
      members,
      members === undefined ? await this.#listed(found.site, signal) : undefined,
    )
    if ('wrong' in told) throw refused(told.wrong)
    const snapshot = this.#snapshot
    const own = await this.#own(place, signal, found)
    const wanted = { name, own: async () => own }
    const backup = await this.#reader.read(place, wanted, signal, async (manifest, _, content) => {
      await host.disk.makeFolder(this.#folder)
      await keepFile(snapshot, content, signal)
      return manifest
    })
    const etcdutl = await this.#parts.etcdutl(backup.etcd, signal)
    const source = await this.#reader.source(place)
    const wish = {
      restoreId: restoreId ?? restoreIdOf(random.uuid()),
      isFirst: restoreId === undefined,
      site,
      members: told.members,
      backup,
      otherCluster: otherCluster(backup.cluster, own),
      etcdutl: etcdutl.path,
      snapshot,
      source,
      startedAt: clock.now(),
    }
    return { record: planRestore(wish), from: told.from }
  }

  discard({ snapshot }: RestoreRecord): Promise<void> {
    return this.#discard(snapshot)
  }

  async carryOut(record: RestoreRecord, tell: (line: string) => void, signal: AbortSignal): Promise<void> {
    if (record.begun.length === 0) await this.#refuseOther(record)
    await this.#run(tell).carryOut(record, signal)
  }

  undo(record: RestoreRecord, tell: (line: string) => void, signal: AbortSignal): Promise<void> {
    return this.#run(tell).undo(record, signal)
  }

  /** By which the cluster of this host is known. */
  async #own(place: BackupPlace, signal: AbortSignal, site?: SiteFinding): Promise<readonly string[]> {
    const { host, manifests } = this.#parts
    const found = site ?? (await findSite(host, manifests, signal).catch(unreadable))
    return ownClusters(found && (await clusterOfSite(host, found)), await this.#reader.notedCluster(place))
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

  /** While somebody thought it over another run of the command may have fetched another one, or cleared this one away. */
  async #refuseOther(plan: RestoreRecord): Promise<void> {
    const { host, sum } = this.#parts
    const { snapshot, backup } = plan
    const isThere = (await host.disk.bytes(snapshot)) !== undefined
    if (isThere && (await sum(snapshot)).sha256 === backup.snapshotSha256) return
    await this.#discard(snapshot)
    throw new SlipwayError('Refused', `${snapshot} is not what was fetched of ${backup.name} any more`, {
      nextStep: 'nothing was changed: look whether a restore runs beside this one, then begin anew',
    })
  }

  async #discard(snapshot: string): Promise<void> {
    const { disk } = this.#parts.host
    if (await this.pending()) return
    if ((await disk.bytes(snapshot)) === undefined) return
    await disk.remove(snapshot)
    await disk.syncFolder(this.#folder)
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

  #run(tell: (line: string) => void): RestoreRun {
    const { host, requests, clock } = this.#parts
    return new RestoreRun({ host, requests, clock, tell }, this.#folder)
  }

  get #snapshot(): string {
    return `${this.#folder}/snapshot.db`
  }

  get #folder(): string {
    return `${this.#parts.stateDir}/restore`
  }
}

function refused(message: string): SlipwayError {
  return new SlipwayError('Refused', message, { nextStep: 'run it on a control-plane host that runs etcd' })
}

async function drained(content: Bytes): Promise<undefined> {
  for await (const _ of content);
}
