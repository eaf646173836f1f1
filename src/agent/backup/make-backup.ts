// One backup from beginning to end: a member worth saving, one pass into the store, read back, proven where that is asked for, and told
// by its manifest only then.

import type { BackupAnswer, BackupManifest, BackupRequest, BackupSecrets } from '../../api/backup.ts'
import { isReasonCode, type Reason } from '../../api/reason.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import { sleep } from '../../kube/sleep.ts'
import type { BackupCipher, BackupCodec } from '../../ports/backup-codec.ts'
import type { BackupStore, BackupStores } from '../../ports/backup-store.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../ports/log.ts'
import type { RestoreProof } from '../../ports/restore-proof.ts'
import { type EtcdTools, etcdSource } from './etcd-source.ts'
import { clearOutdated, manifestName, writeManifest } from './manifests.ts'
import { SummedBytes, sumOf } from './summed-bytes.ts'

export interface BackupTools extends EtcdTools {
  readonly stores: BackupStores
  readonly codec: BackupCodec
  /** Absent where nothing can be restored on this host: then `verify: Restore` is refused. */
  readonly proof?: RestoreProof | undefined
  readonly clock: Clock
  readonly log: Log
  readonly nodeName: string
}

export type BackupResult = Pick<BackupAnswer, 'location' | 'removed' | 'kept' | 'reason'> & {
  readonly manifest: BackupManifest
}

const readTries = 3
const readAgainMs = 2_000
/** For clearing up after one that failed, or was told to stop. */
const clearMs = 30_000

/** Throws SlipwayError with the reason; nothing of it is left in the store then, as far as the store lets itself be cleared. */
export async function makeBackup(
  tools: BackupTools,
  request: BackupRequest,
  secrets: BackupSecrets,
  signal: AbortSignal,
): Promise<BackupResult> {
  const cipher = cipherOf(request, secrets)
  refuseUnprovable(tools, request, cipher)
  const store = await tools.stores.open(request.store, secrets.store, signal)
  try {
    const manifest = await storeSnapshot(tools, store, request, secrets, cipher, signal)
    return {
      manifest,
      location: store.location(manifest.name),
      ...(await cleared(tools, store, request, manifest, signal)),
    }
  } finally {
    await store.close()
  }
}

async function storeSnapshot(
  tools: BackupTools,
  store: BackupStore,
  request: BackupRequest,
  secrets: BackupSecrets,
  cipher: BackupCipher | undefined,
  signal: AbortSignal,
): Promise<BackupManifest> {
  const { name } = request
  const etcd = await etcdSource(tools, request, secrets, signal)
  const at = tools.clock.now().toISOString()
  // Of an earlier try: it must not speak for the object that comes now.
  await store.remove(manifestName(name), signal)
  const snapshot = await etcd.snapshot(signal)
  const stored = new SummedBytes(tools.codec.encode(snapshot, cipher))
  await store.put(name, stored, signal)
  const { header, version } = etcd.status
  const manifest: BackupManifest = {
    name,
    at,
    node: tools.nodeName,
    ...(etcd.cluster !== undefined && { cluster: etcd.cluster }),
    etcd: version,
    revision: header.revision,
    sha256: stored.sha256,
    bytes: stored.bytes,
    snapshotSha256: snapshot.sums.sha256,
    snapshotBytes: snapshot.sums.bytes,
    compression: 'zstd',
    ...(cipher && { encryption: cipher.method }),
    verified: request.verify,
  }
  try {
    await readBack(tools.clock, store, manifest, signal)
    if (request.verify === 'Restore') await prove(tools, store, manifest, cipher?.key, signal)
    await writeManifest(store, manifest, signal)
  } catch (error) {
    const left = await clearAway(tools.clock, store, name)
    if (left === undefined) throw error
    // Also where nobody waits for the answer any more.
    tools.log.warn('what was stored of a backup that failed stays behind', {
      location: store.location(name),
      error: left,
    })
    throw withRemains(error, `${store.location(name)} stays behind: ${left}`)
  }
  return manifest
}

async function readBack(
  clock: Clock,
  store: BackupStore,
  manifest: BackupManifest,
  signal: AbortSignal,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      const found = await sumOf(await contentOf(store, manifest.name, signal))
      if (found.sha256 === manifest.sha256 && found.bytes === manifest.bytes) return
      const where = store.location(manifest.name)
      throw new SlipwayError('BackupDamaged', `${where} reads back as something else than what was stored`, {
        nextStep: 'look at the store: it does not keep what it is given',
      })
    } catch (error) {
      const isPassing = error instanceof SlipwayError && error.code === 'StoreUnreachable'
      if (signal.aborted || !isPassing || attempt === readTries) throw error
      await sleep(clock, readAgainMs, signal)
    }
  }
}

async function prove(
  { codec, proof }: BackupTools,
  store: BackupStore,
  manifest: BackupManifest,
  key: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  const content = await contentOf(store, manifest.name, signal)
  await proof?.prove(codec.decode(content, manifest, key), manifest, signal)
}

async function contentOf(store: BackupStore, name: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
  const content = await store.get(name, signal)
  if (content) return content
  throw new SlipwayError('BackupDamaged', `${store.location(name)} is not there, although it was stored`, {
    nextStep: 'look at the store, and at who else removes things from it',
  })
}

/** The backup is made: what goes wrong with the old ones is told beside it. */
async function cleared(
  { clock }: BackupTools,
  store: BackupStore,
  { store: { retention = {} } }: BackupRequest,
  manifest: BackupManifest,
  signal: AbortSignal,
): Promise<Pick<BackupAnswer, 'removed' | 'kept' | 'reason'>> {
  try {
    return await clearOutdated(store, manifest, retention, clock.now(), signal)
  } catch (error) {
    if (signal.aborted) throw error
    const { code, message } = reasonOf(error)
    return {
      reason: { code, message: `the backup is made; old ones could not be looked at: ${message}`.slice(0, 4096) },
    }
  }
}

/** By a signal of its own: it is done also for one that was told to stop. Answers why it could not be. */
async function clearAway(clock: Clock, store: BackupStore, name: string): Promise<string | undefined> {
  const stop = new AbortController()
  const cancel = clock.after(clearMs, () => stop.abort(new Error('the store does not answer')))
  try {
    // First what speaks for the object: the store may have taken it, and only the answer was lost.
    await store.remove(manifestName(name), stop.signal)
    await store.remove(name, stop.signal)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  } finally {
    cancel()
  }
}

/** Why the backup failed stays the reason; an object without a manifest is no backup to anybody, but it takes room. */
function withRemains(error: unknown, remains: string): SlipwayError {
  const { code, message } = reasonOf(error)
  return new SlipwayError(code, `${message}; ${remains}`, {
    nextStep: 'remove it by hand, or let the next try of the same backup replace it',
    cause: error,
  })
}

function cipherOf({ store }: BackupRequest, { encryption: given }: BackupSecrets): BackupCipher | undefined {
  if (!store.encryption) return undefined
  const { method = 'Age', secret } = store.encryption
  if (given) return { method, key: given.key }
  throw new SlipwayError('BackupKeyWrong', `the store ${store.name} is encrypted, and no key came along`, {
    nextStep: `look whether the Secret ${secret} has the key "key"`,
  })
}

/** Before anything is stored. */
function refuseUnprovable(
  { proof, codec }: BackupTools,
  { verify }: BackupRequest,
  cipher: BackupCipher | undefined,
): void {
  if (verify !== 'Restore') return
  if (!proof) {
    throw new SlipwayError('RestoreUnproven', 'this agent cannot restore a backup to prove it', {
      nextStep: 'ask for verify: Hash, or update the agent',
    })
  }
  if (cipher && !codec.canDecode(cipher)) {
    const message =
      'the key in the Secret is a recipient of age: what it closes cannot be opened on this host to prove it'
    throw new SlipwayError('RestoreUnproven', message, {
      nextStep: 'put the identity (AGE-SECRET-KEY-1…) into the Secret, or ask for verify: Hash',
    })
  }
}

/** One reason for a person, whatever stood in the way. */
export function reasonOf(error: unknown): Reason {
  const message = error instanceof Error ? error.message : String(error)
  const nextStep = error instanceof SlipwayError && error.nextStep !== undefined ? `; ${error.nextStep}` : ''
  return { code: codeOf(error), message: `${message}${nextStep}`.slice(0, 4096) }
}

function codeOf(error: unknown): Reason['code'] {
  if (!(error instanceof SlipwayError)) return 'BackupNotMade'
  if (error.code === 'DiskFull') return 'DiskTooFull'
  if (error.code === 'CannotReach') return 'EtcdUnknown'
  return isReasonCode(error.code) ? error.code : 'BackupNotMade'
}
