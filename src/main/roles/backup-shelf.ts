import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { backupCodec } from '../../adapters/backup/backup-codec.ts'
import { backupStores } from '../../adapters/backup/open-stores.ts'
import { FileDisk } from '../../adapters/disk/file-disk.ts'
import { syncFolder } from '../../adapters/disk/sync-folder.ts'
import { findPrograms } from '../../adapters/etcd/find-programs.ts'
import { ScratchRestore } from '../../adapters/etcd/scratch-restore.ts'
import { LinuxHost } from '../../adapters/host/linux-host.ts'
import { pinoLog } from '../../adapters/log/pino-log.ts'
import { nodeRequests } from '../../adapters/secure-requests/node-requests.ts'
import { HostShelf } from '../../agent/restore/host-shelf.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import type { ShelfOptions } from '../../cli/dependencies.ts'
import type { BackupShelf } from '../../ports/backup-shelf.ts'
import { enterHost } from './enter-host.ts'
import type { RoleDependencies } from './role-dependencies.ts'

/** On the machine itself, or from the agent's container of it. */
export function backupShelf(
  { clock, random, env }: Pick<RoleDependencies, 'clock' | 'random' | 'env'>,
  { etcdutl, etcd, stateDir, hostRoot, manifests }: ShelfOptions,
): BackupShelf {
  const inContainer = hostRoot !== '/'
  const root = inContainer ? hostRoot : ''
  const log = pinoLog({ level: 'warn', component: 'cli' })
  const host = new LinuxHost({ disk: new FileDisk(), log, root, ...(inContainer && { enter: enterHost }) })
  const given = { ...(etcdutl !== undefined && { etcdutl }), ...(etcd !== undefined && { etcd }) }
  const scratch = new ScratchRestore({ host, requests: nodeRequests, folder: `${stateDir}/scratch-etcd`, given })
  return new HostShelf({
    host,
    requests: nodeRequests,
    clock,
    random,
    codec: backupCodec,
    stores: backupStores({ clock, random, proxyEnv: env, host, root, folder: `${stateDir}/mounts` }),
    stateDir,
    manifests,
    prove: (snapshot, manifest, signal) => scratch.look(snapshot, manifest, signal),
    etcdutl: async (snapshot, signal) => {
      const wish = { needs: ['etcdutl'], snapshot, given, folder: `${stateDir}/restore/programs` } as const
      const { etcdutl: found } = await findPrograms(host, wish, signal)
      if (!found) throw new SlipwayError('ToolMissing', 'no etcdutl was found', { nextStep: 'name it with --etcdutl' })
      return found
    },
    openFile: (path) => createReadStream(path, { highWaterMark: 1 << 20 }),
    keepFile: async (path, content, signal) => {
      // On the disk before the restore is: one that goes on after a power cut needs it.
      await pipeline(content, createWriteStream(path, { mode: 0o600, flush: true }), { signal })
      await syncFolder(dirname(path))
    },
    sum: async (path) => {
      const hash = createHash('sha256')
      for await (const piece of createReadStream(path, { highWaterMark: 1 << 20 })) hash.update(piece as Uint8Array)
      return { sha256: hash.digest('hex'), bytes: (await stat(path)).size }
    },
  })
}
