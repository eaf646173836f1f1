// Maintenance as a story tells it: what the agents can do, and the files of the hosts.

import { expect } from 'vitest'
import { JobRecord } from '../../src/agent/drivers/jobs/job-record.ts'
import { jobReporter } from '../../src/agent/drivers/jobs/job-reporter.ts'
import { jobsDriver } from '../../src/agent/drivers/jobs/jobs.ts'
import { maintenanceDriver } from '../../src/agent/drivers/maintenance/maintenance.ts'
import { rebootDriver } from '../../src/agent/drivers/reboot/reboot.ts'
import { scriptDriver } from '../../src/agent/drivers/script.ts'
import { logDesk } from '../../src/agent/logs/log-desk.ts'
import { sentinelWatcher } from '../../src/agent/sentinels/sentinel-watcher.ts'
import type { SideTask } from '../../src/agent/side-task.ts'
import type { AgentTools } from '../../src/main/simulation/simulated-cluster.ts'
import type { Download } from '../../src/ports/download.ts'
import type { StoryOptions } from './story.ts'
import type { StoryCluster } from './story-cluster.ts'

export const required = '/var/maintenance-required'
export const inProgress = '/var/maintenance-in-progress'
export const asRoot = { mode: 0o644, owner: 'root', group: 'root' }
export const stateDir = '/var/lib/slipway'
const nothing: Download = { fetch: () => Promise.reject(new Error('nothing is fetched here')) }

/** Of each node, shared by the driver that writes it and the task that tells it. */
const records = new Map<string, JobRecord>()
const recordOf = (node: string) => {
  const record = records.get(node) ?? new JobRecord(stateDir)
  records.set(node, record)
  return record
}

const driversWith =
  (downloadOf: (node: string) => Download) =>
  (node: string, { clock, random }: AgentTools) => [
    jobsDriver({ clock, download: downloadOf(node), record: recordOf(node) }),
    scriptDriver,
    maintenanceDriver({ clock, random }),
    rebootDriver,
  ]
const jobs: SideTask = {
  name: 'jobs',
  run: (context, signal) => jobReporter(recordOf(context.nodeName)).run(context, signal),
}
const plainText = { pack: async (text: string) => text, unpack: async (text: string) => text }
export const able = (nodes: number, downloadOf = (_node: string) => nothing): StoryOptions => ({
  nodes,
  driversOf: driversWith(downloadOf),
  sideTasks: [sentinelWatcher, jobs, logDesk(plainText)],
})

export const files = (cluster: StoryCluster, node: string) => cluster.machine(node).host.files
export const ask = (cluster: StoryCluster, node: string) => files(cluster, node).write(required, '', asRoot)
export const finish = (cluster: StoryCluster, node: string) => files(cluster, node).remove(required)
export const seen = (cluster: StoryCluster, node: string) =>
  cluster.state(node)?.status?.agent?.sentinels?.maintenanceRequired
export const annotation = (cluster: StoryCluster, node: string, name: string) =>
  cluster.node(node)?.metadata.annotations?.[name]

/** Until somebody on the host may begin. */
export async function isLetIn(cluster: StoryCluster, node: string): Promise<void> {
  await cluster.until(
    `${node} is let in`,
    () => cluster.state(node)?.status?.agent?.sentinels?.maintenanceInProgress !== undefined,
  )
  expect((await files(cluster, node).look(inProgress)).kind).toBe('file')
}
