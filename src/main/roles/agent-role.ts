import { backupCodec } from '../../adapters/backup/backup-codec.ts'
import { backupStores } from '../../adapters/backup/open-stores.ts'
import { FileBundles } from '../../adapters/bundle/file-bundles.ts'
import { gzipCompression } from '../../adapters/compression/gzip.ts'
import { FileDisk } from '../../adapters/disk/file-disk.ts'
import { WebDownload } from '../../adapters/download/web-download.ts'
import { ScratchRestore } from '../../adapters/etcd/scratch-restore.ts'
import { FlockFolders } from '../../adapters/host/flock-folders.ts'
import { LinuxHost } from '../../adapters/host/linux-host.ts'
import { UnixServer } from '../../adapters/local-socket/unix-server.ts'
import { pinoLog } from '../../adapters/log/pino-log.ts'
import { keyPairSignatures } from '../../adapters/oci/key-pair-signatures.ts'
import { nodeRequests, nodeStreams } from '../../adapters/secure-requests/node-requests.ts'
import { runAgent } from '../../agent/agent.ts'
import { allSideTasks } from '../../agent/all-side-tasks.ts'
import { etcdObstacle } from '../../agent/control-plane/step-obstacle.ts'
import { allDrivers, asFarAsWanted } from '../../agent/drivers/all-drivers.ts'
import { bundleDriver } from '../../agent/drivers/bundle/bundle-driver.ts'
import { JobRecord } from '../../agent/drivers/jobs/job-record.ts'
import { becomesOnlyAgent } from '../../agent/only-agent.ts'
import type { AgentOptions } from '../../cli/dependencies.ts'
import { enterHost } from './enter-host.ts'
import { profileParts } from './profile-parts.ts'
import type { RoleDependencies } from './role-dependencies.ts'

export async function agentRole(
  { connector, clock, random, version, env }: RoleDependencies,
  options: AgentOptions,
  signal: AbortSignal,
): Promise<void> {
  const { kubeconfig, context, nodeName, stateDir, hostRoot } = options
  const log = pinoLog({ level: options.logLevel, component: 'agent' })
  const api = await connector.connect({ kubeconfig, context, component: 'agent' })
  const inContainer = hostRoot !== '/'
  const locks = new FlockFolders(inContainer ? enterHost : [])
  if (!(await becomesOnlyAgent({ locks, clock, random, log, stateDir }, signal))) return
  const root = inContainer ? hostRoot : ''
  const host = new LinuxHost({ disk: new FileDisk(), log, root: hostRoot, ...(inContainer && { enter: enterHost }) })
  const jobRecord = new JobRecord(stateDir)
  const download = new WebDownload({ proxyEnv: env })
  const profiles = profileParts(host, clock, stateDir)
  const tools = { clock, random, download, signatures: keyPairSignatures, jobRecord, requests: nodeRequests, stateDir }
  // Where there is a bundle, all others take what they need from it.
  const bundle = bundleDriver({ download, bundles: new FileBundles(root) })
  const drivers = asFarAsWanted(options.only, [bundle, profiles.driver, ...allDrivers(tools)])
  const stores = backupStores({ clock, random, proxyEnv: env, host, root, folder: `${stateDir}/mounts` })
  const proof = new ScratchRestore({ host, requests: nodeRequests, folder: `${stateDir}/scratch-etcd` })
  const sideTasks = [
    ...profiles.sideTasks,
    ...allSideTasks({
      compression: gzipCompression,
      localServer: new UnixServer(),
      hostRoot: root,
      jobRecord,
      requests: nodeRequests,
      backup: { stores, codec: backupCodec, streams: nodeStreams, unseal: profiles.unseal, proof },
    }),
  ]
  const obstacle = etcdObstacle(nodeRequests)
  await runAgent({ api, host, clock, random, log, nodeName, stateDir, version, drivers, sideTasks, obstacle }, signal)
}
