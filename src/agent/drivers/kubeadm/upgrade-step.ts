// `kubeadm upgrade`. kubeadm keeps what it replaces below /etc/kubernetes/tmp and may be run again after any cut. What was begun
// and has not ended well is run again as the same, in its order or in the next: the cluster's record changes before the last of
// `apply` is done.

import { SlipwayError } from '../../../api/slipway-error.ts'
import {
  canTakeCheckJob,
  clusterVersion,
  type UpgradeMode,
  upgradeMode,
  upgradeOptions,
} from '../../../core/kubernetes/kubeadm-upgrade.ts'
import { sameVersion } from '../../../core/version.ts'
import type { Host } from '../../../ports/host.ts'
import type { Log } from '../../../ports/log.ts'
import type { JobStep, StepContext } from '../driver.ts'
import { installedKubelet } from '../kubelet/kubelet-look.ts'
import { targetVersion } from '../kubernetes-target.ts'
import { lookUntil } from '../look-until.ts'
import { readClusterConfiguration, readOpenNodes } from './cluster-record.ts'
import { lookAtManifests, manifestFolder, missingInControlPlane, missingInManifests } from './control-plane.ts'
import type { RestoreManifests } from './lost-manifests.ts'
import { kubeadmBackups } from './manifest-backups.ts'
import type { UpgradeRecord } from './upgrade-record.ts'

/** Finds the kubeadm of the target version. */
export type KubeadmProgram = (context: StepContext, signal: AbortSignal) => Promise<string>

const timeoutMs = 30 * 60_000
const syncMs = 5 * 60_000
/** The kubelet takes a moment to see new manifests and to report what became of them. */
const patience = { tries: 40, pauseSeconds: 3 }

/** $1 kubeadm, $2 version, then the options. The plan is for the log: kubeadm's own checks decide. */
const applyProgram = `
kubeadm=$1 version=$2
shift 2
ignored=
for option in "$@"; do
  case $option in --ignore-preflight-errors=*) ignored=$option ;; esac
done
"$kubeadm" upgrade plan "$version" \${ignored:+"$ignored"} || echo 'kubeadm could not make a plan; its checks decide'
exec "$kubeadm" upgrade apply "$version" --yes "$@"
`

export interface UpgradeParts {
  readonly kubeadm: KubeadmProgram
  readonly record: UpgradeRecord
  readonly restoreManifests: RestoreManifests
}

export function upgradeControlPlane({ kubeadm, record, restoreManifests }: UpgradeParts): JobStep {
  return {
    name: 'upgrade-control-plane',
    disruptive: false,
    stopsControlPlane: true,
    attempts: 3,
    showsEffect: true,
    timeoutMs,
    argv: async (context, signal) => {
      const { order, host } = context
      // First of all: without them the API may be away.
      await restoreManifests(context)
      const program = await kubeadm(context, signal)
      const version = targetVersion(order).text
      const begun = await record.find(context)
      // Asked each time, which also waits for an API that a boot took away.
      const due = await chooseMode(context, signal)
      const mode = begun && sameVersion(begun.version, version) && begun.mode === 'apply' ? 'apply' : due
      const backups = begun?.backups ?? [...(await kubeadmBackups(host))]
      await record.begin(host.disk, { nodeUID: order.nodeUID, version, mode, backups })
      const options = upgradeOptions(order.work.kubernetes?.kubeadm ?? {}, await checksToIgnore(mode, context, signal))
      if (mode === 'node') return [program, 'upgrade', 'node', ...options]
      return ['/bin/sh', '-c', applyProgram, 'kubeadm-apply', program, version, ...options]
    },
    holds: async (context, signal) => {
      const { host, order } = context
      if (await record.find(context)) return false
      if (missingInManifests(await lookAtManifests(host), targetVersion(order).text) !== undefined) return false
      // At the version, but perhaps just booted: it is given its time to come up.
      if ((await missingAtLast(context, signal)) !== undefined) return false
      return (await chooseMode(context, signal)) === 'node'
    },
    missing: missingAtLast,
    afterwards: async ({ host, log }, signal) => {
      await syncManifests(host, log, signal)
      await record.end(host.disk)
    },
  }
}

/**
 * A worker's part: its kubelet's configuration. Nothing on the host tells whether that was done, but the kubelet is made new
 * only after it.
 */
export function upgradeWorker(kubeadm: KubeadmProgram): JobStep {
  return {
    name: 'upgrade-node',
    disruptive: false,
    attempts: 5,
    showsEffect: true,
    timeoutMs,
    argv: async (context, signal) => [
      await kubeadm(context, signal),
      'upgrade',
      'node',
      ...upgradeOptions(context.order.work.kubernetes?.kubeadm ?? {}),
    ],
    holds: async ({ host, order }, signal) =>
      sameVersion((await installedKubelet(host, signal)) ?? '', targetVersion(order).text),
  }
}

function missingAtLast({ host, nodeName, order }: StepContext, signal: AbortSignal): Promise<string | undefined> {
  const look = () => missingInControlPlane(host, nodeName, targetVersion(order).text, signal)
  return lookUntil(host, () => looked(look, signal), patience, signal)
}

/** Another node may have done the cluster's part meanwhile. */
async function chooseMode({ host, order }: StepContext, signal: AbortSignal): Promise<UpgradeMode> {
  const recorded = clusterVersion(await readClusterConfiguration(host, signal))
  if (recorded !== undefined) return upgradeMode(recorded, targetVersion(order).text)
  throw new SlipwayError('StepFailed', 'ConfigMap kube-system/kubeadm-config names no kubernetesVersion', {
    nextStep: 'was this cluster made by kubeadm? See: kubectl -n kube-system get configmap kubeadm-config -o yaml',
  })
}

/** kubeadm leaves that to the kernel, and lost power would still take them: with the record gone nobody would look any more. */
async function syncManifests(host: Host, log: Log, signal: AbortSignal): Promise<void> {
  const { exitCode, stderr } = await host.run({ argv: ['sync', '-f', manifestFolder], timeoutMs: syncMs }, signal)
  if (exitCode !== 0)
    log.warn('the static pod manifests were not synced', { exitCode, error: stderr.trim().slice(0, 400) })
}

async function checksToIgnore(
  mode: UpgradeMode,
  { host, warn }: StepContext,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (mode === 'node' || canTakeCheckJob(await readOpenNodes(host, signal))) return []
  await warn('kubeadm’s check CreateJob was ignored: no other node is schedulable, so its test pod could run nowhere')
  return ['CreateJob']
}

async function looked(look: () => Promise<string | undefined>, signal: AbortSignal): Promise<string | undefined> {
  try {
    return await look()
  } catch (error) {
    if (signal.aborted) throw error
    return `its effect could not be looked at: ${error instanceof Error ? error.message : String(error)}`
  }
}
