import { FileBundles } from '../../adapters/bundle/file-bundles.ts'
import { gzipCompression } from '../../adapters/compression/gzip.ts'
import { FileDisk } from '../../adapters/disk/file-disk.ts'
import { WebDownload } from '../../adapters/download/web-download.ts'
import { LinuxHost } from '../../adapters/host/linux-host.ts'
import { UnixServer } from '../../adapters/local-socket/unix-server.ts'
import { pinoLog } from '../../adapters/log/pino-log.ts'
import { keyPairSignatures } from '../../adapters/oci/key-pair-signatures.ts'
import { nodeRequests } from '../../adapters/secure-requests/node-requests.ts'
import { runAgent } from '../../agent/agent.ts'
import { allSideTasks } from '../../agent/all-side-tasks.ts'
import { etcdObstacle } from '../../agent/control-plane/step-obstacle.ts'
import { allDrivers } from '../../agent/drivers/all-drivers.ts'
import { bundleDriver } from '../../agent/drivers/bundle/bundle-driver.ts'
import { JobRecord } from '../../agent/drivers/jobs/job-record.ts'
import type { AgentOptions } from '../../cli/dependencies.ts'
import { profileParts } from './profile-parts.ts'
import type { RoleDependencies } from './role-dependencies.ts'

/**
 * From a container into the machine's own namespaces. The pod shares the machine's network and processes already; entering
 * the latter would make nsenter fork, and the job would not be the process we hold.
 */
const enterHost = ['nsenter', '--target=1', '--mount', '--uts', '--ipc', '--']

export async function agentRole(
  { connector, clock, random, version, env }: RoleDependencies,
  options: AgentOptions,
  signal: AbortSignal,
): Promise<void> {
  const { kubeconfig, context, nodeName, stateDir, hostRoot } = options
  const log = pinoLog({ level: 'info', component: 'agent' })
  const api = await connector.connect({ kubeconfig, context, component: 'agent' })
  const inContainer = hostRoot !== '/'
  const host = new LinuxHost({ disk: new FileDisk(), log, root: hostRoot, ...(inContainer && { enter: enterHost }) })
  const jobRecord = new JobRecord(stateDir)
  const download = new WebDownload({ proxyEnv: env })
  const profiles = profileParts(host, clock, stateDir)
  const tools = { clock, random, download, signatures: keyPairSignatures, jobRecord, requests: nodeRequests }
  // Where there is a bundle, all others take what they need from it.
  const bundle = bundleDriver({ download, bundles: new FileBundles(inContainer ? hostRoot : '') })
  const drivers = [bundle, profiles.driver, ...allDrivers(tools)]
  const sideTasks = [
    ...profiles.sideTasks,
    ...allSideTasks({
      compression: gzipCompression,
      localServer: new UnixServer(),
      hostRoot: inContainer ? hostRoot : '',
      jobRecord,
      requests: nodeRequests,
    }),
  ]
  const obstacle = etcdObstacle(nodeRequests)
  await runAgent({ api, host, clock, random, log, nodeName, stateDir, version, drivers, sideTasks, obstacle }, signal)
}
