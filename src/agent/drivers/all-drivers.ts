import type { Clock } from '../../ports/clock.ts'
import type { Download } from '../../ports/download.ts'
import type { ImageSignatures } from '../../ports/image-signatures.ts'
import type { Random } from '../../ports/random.ts'
import type { SecureRequests } from '../../ports/secure-requests.ts'
import { binaryDriver } from './binary/binary-driver.ts'
import { controlPlaneDriver } from './control-plane/control-plane-driver.ts'
import type { Driver } from './driver.ts'
import { etcdDriver } from './etcd/etcd-driver.ts'
import type { JobRecord } from './jobs/job-record.ts'
import { jobsDriver } from './jobs/jobs.ts'
import { kubeadmDriver } from './kubeadm/kubeadm-driver.ts'
import { kubectlDriver } from './kubectl/kubectl-driver.ts'
import { kubeletDriver } from './kubelet/kubelet-driver.ts'
import { maintenanceDriver } from './maintenance/maintenance.ts'
import { checkImageProgramsStep } from './osimage/image-programs.ts'
import { osImageDriver } from './osimage/osimage-driver.ts'
import { stagedTree } from './osimage/staged-tree.ts'
import { packagesDriver } from './packages/packages-driver.ts'
import { rebootDriver } from './reboot/reboot.ts'
import { runtimeDriver } from './runtime/runtime-driver.ts'
import { scriptDriver } from './script.ts'
import { stampsDriver } from './stamps/stamps.ts'

export interface DriverTools {
  readonly clock: Clock
  readonly random: Random
  readonly download: Download
  readonly signatures: ImageSignatures
  readonly jobRecord: JobRecord
  readonly requests: SecureRequests
  /** Where the agent keeps its journal. */
  readonly stateDir: string
}

/** Every driver of a real host, in the order in which they work on one order. */
export function allDrivers(tools: DriverTools): readonly Driver[] {
  const { clock, random, download, signatures, jobRecord, requests, stateDir } = tools
  return [
    controlPlaneDriver(requests),
    jobsDriver({ clock, download, record: jobRecord }),
    scriptDriver,
    packagesDriver,
    kubeadmDriver({ stagedTree, checkImage: checkImageProgramsStep, stateDir }),
    runtimeDriver,
    etcdDriver(requests),
    kubectlDriver,
    kubeletDriver,
    osImageDriver({ clock, signatures }),
    binaryDriver(download),
    maintenanceDriver({ clock, random }),
    rebootDriver,
    stampsDriver,
  ]
}

/** What an agent of a real host says that it can do: the profile's driver, and all of these. */
export const driverNames: readonly string[] = [
  ...['profile', 'control-plane', 'jobs', 'script', 'packages', 'kubeadm', 'runtime', 'etcd', 'kubectl', 'kubelet'],
  ...['osimage', 'binary', 'maintenance', 'reboot', 'stamps'],
]

/** What reboots need, and the maintenance that a host asks for: nothing that brings code or files of others onto it. */
const forReboots: ReadonlySet<string> = new Set(['control-plane', 'maintenance', 'reboot'])

/** An order for one that is left out is refused with DriverMissing, and no update that needs it is planned. */
export function asFarAsWanted(only: 'reboots' | undefined, drivers: readonly Driver[]): readonly Driver[] {
  return only === undefined ? drivers : drivers.filter(({ name }) => forReboots.has(name))
}
