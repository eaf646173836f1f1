// Takes away what the agent keeps on its host, when Slipway goes for good. What may be the only copy of something stays, and so
// does what we do not know.

import { keptStoreSchema } from '../../api/backup.ts'
import type { Host } from '../../ports/host.ts'
import type { KeptOnHost } from '../../ports/host-memory.ts'
import { backupAnswerFile, keptStoreFile } from '../backup/backup-record.ts'
import { jobRecordFile } from '../drivers/jobs/job-record.ts'
import { upgradeRecordFile } from '../drivers/kubeadm/upgrade-record.ts'
import { removeGuard } from '../drivers/osimage/boot-guard.ts'
import { profileRecordFile } from '../drivers/profile/record.ts'
import { hostKeyFile } from '../host-key.ts'
import { agentFile } from '../journal/journal.ts'
import { hasEnded, orderFile } from '../journal/order-folder.ts'
import { readSealed, temporarySuffix } from '../journal/sealed-file.ts'
import { restoreRecordFile } from '../restore/restore-run.ts'
import { failurePath } from '../sentinels/maintenance-failure.ts'

export interface HostMemory {
  readonly host: Pick<Host, 'disk' | 'files' | 'run'>
  readonly stateDir: string
  /** Where the agent listens. */
  readonly socket: string
}

const ourFiles: readonly string[] = [
  agentFile,
  jobRecordFile,
  hostKeyFile,
  backupAnswerFile,
  keptStoreFile,
  upgradeRecordFile,
]
const ourFolders: readonly string[] = ['orders', 'boot-guard', 'mounts', 'scratch-etcd', 'restore']

/** Resolves to what stays. Where work is half-done nothing is touched: another agent could still end it. */
export async function forgetHost(memory: HostMemory, signal: AbortSignal): Promise<readonly KeptOnHost[]> {
  const { host, stateDir } = memory
  const underWay = [...(await mountsBelow(memory)), ...(await openOrders(memory)), ...(await openRestore(memory))]
  if (underWay.length > 0) return underWay
  await removeGuard(host, signal)
  const kept = await onlyCopies(memory)
  const keptPaths = new Set(kept.map(({ path }) => path))
  for (const name of await host.disk.names(stateDir)) {
    const path = `${stateDir}/${name}`
    if (keptPaths.has(path)) continue
    if (ourFolders.includes(name)) await host.disk.removeFolder(path)
    else if (isOurFile(memory, name)) await host.disk.remove(path)
    else kept.push({ path, why: 'it is not of our making' })
  }
  await host.files.remove(memory.socket)
  if (kept.length === 0) kept.push(...(await removeEmpty(host, stateDir, signal)))
  return [...kept, ...(await removeEmpty(host, folderOf(memory.socket), signal))]
}

function isOurFile({ stateDir }: HostMemory, name: string): boolean {
  return ourFiles.includes(name) || name.endsWith(temporarySuffix) || `${stateDir}/${name}` === failurePath(stateDir)
}

/** A store of backups that a crash left mounted: what is removed below would be removed from the store. */
async function mountsBelow({ host, stateDir }: HostMemory): Promise<readonly KeptOnHost[]> {
  const table = (await host.files.read('/proc/1/mounts', 16 * 1024 * 1024)) ?? ''
  const points = table.split('\n').map((line) => line.split(' ')[1] ?? '')
  return points
    .filter((point) => point.startsWith(`${stateDir}/`))
    .map((path) => ({ path, why: 'something is mounted there; umount it first' }))
}

async function openOrders({ host: { disk }, stateDir }: HostMemory): Promise<readonly KeptOnHost[]> {
  const open: KeptOnHost[] = []
  for (const order of await disk.names(`${stateDir}/orders`)) {
    const path = `${stateDir}/orders/${order}`
    const names = await disk.names(path)
    if (names.includes(orderFile) && !hasEnded(names)) open.push({ path, why: 'an order that has not ended' })
  }
  return open
}

async function openRestore({ host: { disk }, stateDir }: HostMemory): Promise<readonly KeptOnHost[]> {
  const path = `${stateDir}/restore/${restoreRecordFile}`
  return (await disk.read(path)) === undefined ? [] : [{ path, why: 'a restore of etcd that has not ended' }]
}

/** The record of profiles is there only while something of theirs is: it holds what they replaced. */
async function onlyCopies({ host: { disk }, stateDir }: HostMemory): Promise<KeptOnHost[]> {
  const kept: KeptOnHost[] = []
  const profiles = `${stateDir}/${profileRecordFile}`
  if ((await disk.read(profiles)) !== undefined) {
    kept.push({ path: profiles, why: 'the only copy of what profiles replaced here and did not put back' })
  }
  const store = `${stateDir}/${keptStoreFile}`
  if ((await readSealed(disk, store, keptStoreSchema))?.secrets.encryption) {
    kept.push({ path: store, why: 'it holds the key that backups are encrypted with' })
  }
  return kept
}

/** On the machine itself: in a container the folder is a mount, which cannot be removed from within. */
async function removeEmpty(
  host: HostMemory['host'],
  path: string,
  signal: AbortSignal,
): Promise<readonly KeptOnHost[]> {
  if ((await host.files.look(path)).kind === 'none') return []
  const { exitCode, stderr } = await host.run({ argv: ['rmdir', path] }, signal)
  return exitCode === 0 ? [] : [{ path, why: stderr.trim() }]
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'))
}
