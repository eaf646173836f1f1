import { localSocketPath } from '../api/local-protocol.ts'
import type { Compression } from '../ports/compression.ts'
import type { LocalServer } from '../ports/local-server.ts'
import type { SecureRequests } from '../ports/secure-requests.ts'
import { type BackupDeskTools, backupDesk } from './backup/backup-desk.ts'
import { controlPlaneReporter } from './control-plane/control-plane-reporter.ts'
import type { JobRecord } from './drivers/jobs/job-record.ts'
import { jobReporter } from './drivers/jobs/job-reporter.ts'
import { historyKeeper } from './journal/history-keeper.ts'
import { localDesk } from './local-socket/local-desk.ts'
import { logDesk } from './logs/log-desk.ts'
import { sentinelWatcher } from './sentinels/sentinel-watcher.ts'
import type { SideTask } from './side-task.ts'

export interface SideTaskTools {
  readonly compression: Compression
  readonly localServer: LocalServer
  /** Where the machine's root is seen; '' = the agent runs on the machine itself. */
  readonly hostRoot: string
  readonly jobRecord: JobRecord
  readonly requests: SecureRequests
  readonly backup: Omit<BackupDeskTools, 'requests'>
}

/** All that an agent of a real host does besides its orders. */
export function allSideTasks(tools: SideTaskTools): readonly SideTask[] {
  const { compression, localServer, hostRoot, jobRecord, requests, backup } = tools
  return [
    sentinelWatcher,
    controlPlaneReporter(requests),
    jobReporter(jobRecord),
    historyKeeper,
    logDesk(compression),
    backupDesk({ ...backup, requests }),
    localDesk(localServer, `${hostRoot}${localSocketPath}`),
  ]
}
