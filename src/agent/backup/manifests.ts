// The manifests of a store: NAME.json beside each backup, written last, so a backup that has one is whole.

import { type BackupManifest, backupManifestSchema, maxBackupsListed, type Retention } from '../../api/backup.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import { type FoundBackup, isWhole, outdatedBackups } from '../../core/backup/retention.ts'
import type { BackupStore } from '../../ports/backup-store.ts'

const suffix = '.json'
/** One has some hundred bytes. */
const maxBytes = 16 * 1024
/** How many are read at once. */
const lanes = 8

export interface FoundManifest extends FoundBackup {
  readonly manifest: BackupManifest
}

export function manifestName(name: string): string {
  return `${name}${suffix}`
}

export async function writeManifest(store: BackupStore, manifest: BackupManifest, signal: AbortSignal): Promise<void> {
  const text = `${JSON.stringify(manifest, undefined, 2)}\n`
  await store.put(manifestName(manifest.name), once(Buffer.from(text)), signal)
}

/**
 * All that can be read, the newest first. What is no manifest is passed over: it is nobody's to judge here. So is one that the store
 * refuses: the others are as good as they were. Where it refuses every one, that is what is to be told.
 */
export async function readManifests(store: BackupStore, signal: AbortSignal): Promise<readonly FoundManifest[]> {
  const objects = new Map((await store.list(signal)).map(({ name, bytes }) => [name, bytes]))
  const names = [...objects].flatMap(([name, bytes]) => (name.endsWith(suffix) && bytes <= maxBytes ? [name] : []))
  const found: FoundManifest[] = []
  let refusal: SlipwayError | undefined
  const next = names.values()
  const readOn = async () => {
    for (const name of next) {
      const manifest = await readManifest(store, name, signal).catch((error: unknown) => {
        if (!(error instanceof SlipwayError) || error.code !== 'StoreRefused') throw error
        refusal = error
      })
      if (manifest) found.push({ manifest, objectBytes: objects.get(manifest.name) })
    }
  }
  await Promise.all(Array.from({ length: lanes }, readOn))
  if (found.length === 0 && refusal) throw refusal
  return found.toSorted((a, b) => Date.parse(b.manifest.at) - Date.parse(a.manifest.at))
}

/** The one of that name, whatever the others are like; undefined where there is none. */
export function readManifestOf(
  store: BackupStore,
  name: string,
  signal: AbortSignal,
): Promise<BackupManifest | undefined> {
  return readManifest(store, manifestName(name), signal)
}

export interface Cleared {
  readonly removed: number
  readonly kept: BackupManifest[]
}

/** Carries out what the retention says, and tells what is left. */
export async function clearOutdated(
  store: BackupStore,
  made: BackupManifest,
  retention: Retention,
  now: Date,
  signal: AbortSignal,
): Promise<Cleared> {
  const found = await readManifests(store, signal)
  const outdated = outdatedBackups({ found, retention, made: made.name, cluster: made.cluster, now })
  for (const name of outdated) {
    // The manifest last: one without its object is seen and cleared the next time, an object without its manifest never.
    await store.remove(name, signal)
    await store.remove(manifestName(name), signal)
  }
  const gone = new Set(outdated)
  const left = found.filter((each) => !gone.has(each.manifest.name) && isWhole(each))
  return { removed: outdated.length, kept: left.slice(0, maxBackupsListed).map(({ manifest }) => manifest) }
}

async function readManifest(
  store: BackupStore,
  name: string,
  signal: AbortSignal,
): Promise<BackupManifest | undefined> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of (await store.get(name, signal)) ?? []) {
    bytes += piece.length
    if (bytes > maxBytes) return undefined
    pieces.push(piece)
  }
  const parsed = backupManifestSchema.safeParse(jsonOf(Buffer.concat(pieces).toString('utf8')))
  return parsed.success && manifestName(parsed.data.name) === name ? parsed.data : undefined
}

async function* once(piece: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(piece)
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
