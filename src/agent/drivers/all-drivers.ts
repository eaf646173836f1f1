import type { Clock } from '../../ports/clock.ts'
import type { Download } from '../../ports/download.ts'
import type { Random } from '../../ports/random.ts'
import type { Driver } from './driver.ts'
import type { JobRecord } from './jobs/job-record.ts'
import { jobsDriver } from './jobs/jobs.ts'
import { kubeadmDriver } from './kubeadm/kubeadm-driver.ts'
import { kubectlDriver } from './kubectl/kubectl-driver.ts'
import { kubeletDriver } from './kubelet/kubelet-driver.ts'
import { maintenanceDriver } from './maintenance/maintenance.ts'
import { scriptDriver } from './script.ts'

export interface DriverTools {
  readonly clock: Clock
  readonly random: Random
  readonly download: Download
  readonly jobRecord: JobRecord
}

/** Every driver of a real host, in the order in which they work on one order. */
export function allDrivers({ clock, random, download, jobRecord }: DriverTools): readonly Driver[] {
  return [
    jobsDriver({ clock, download, record: jobRecord }),
    scriptDriver,
    kubeadmDriver(() => Promise.resolve(undefined)),
    kubectlDriver,
    kubeletDriver,
    maintenanceDriver({ clock, random }),
  ]
}
