// kubeadm moves a manifest to its backup and then the new one in its place. Killed between the two, or with the power lost before
// the new one reached the disk, it leaves a control plane that cannot come up by itself, and kubeadm cannot be run again without it.

import { SlipwayError } from '../../../api/slipway-error.ts'
import { controlPlaneComponents, parseStaticPod } from '../../../core/kubernetes/static-pod.ts'
import type { Host } from '../../../ports/host.ts'
import { commandLines } from '../../command-lines.ts'
import { restoreRecordFile } from '../../restore/restore-run.ts'
import type { StepContext } from '../driver.ts'
import { manifestFolder } from './control-plane.ts'
import { backupFolder, kubeadmBackups } from './manifest-backups.ts'
import type { UpgradeRecord } from './upgrade-record.ts'

export type RestoreManifests = (context: StepContext) => Promise<void>

/**
 * Puts back each manifest that is missing or broken and that kubeadm has moved away since an upgrade was begun which has not ended
 * well. Throws while somebody else may be moving them.
 */
export function lostManifests(record: UpgradeRecord, stateDir: string): RestoreManifests {
  return async (context) => {
    const { host, order } = context
    // A host that was reset and joined again as a worker keeps the record and the backups.
    if (order.role !== 'ControlPlane') return
    const begun = await record.find(context)
    if (!begun) return
    const lost = await findLost(host, begun.backups)
    if (lost.length === 0) return
    await refuseBeside(host, stateDir, lost)
    // Looked at anew: kubeadm may have ended only now.
    for (const manifest of await findLost(host, begun.backups)) await putBack(context, manifest)
  }
}

interface LostManifest {
  readonly path: string
  readonly isBroken: boolean
  readonly backup: string
  readonly backupPath: string
  readonly content: string
}

async function findLost(host: Host, before: readonly string[]): Promise<readonly LostManifest[]> {
  const backups = (await kubeadmBackups(host)).filter((name) => !before.includes(name)).toReversed()
  const lost: LostManifest[] = []
  for (const component of [...controlPlaneComponents, 'etcd']) {
    const path = `${manifestFolder}/${component}.yaml`
    const there = await host.files.read(path)
    if (there !== undefined && parseStaticPod(there)) continue
    // The newest that holds it: run again, kubeadm moves only what is still to be changed.
    for (const backup of backups) {
      const backupPath = `${backupFolder}/${backup}/${component}.yaml`
      const content = await host.files.read(backupPath)
      if (content === undefined || !parseStaticPod(content)) continue
      lost.push({ path, isBroken: there !== undefined, backup, backupPath, content })
      break
    }
  }
  return lost
}

async function refuseBeside(host: Host, stateDir: string, lost: readonly LostManifest[]): Promise<void> {
  const missing = `${lost.map(({ path }) => path).join(', ')} cannot be put back yet`
  if ((await commandLines(host)).some(([program = '']) => program.split('/').at(-1) === 'kubeadm')) {
    throw new SlipwayError('StepFailed', `${missing}: kubeadm runs on this host, and may be about to do that`, {
      nextStep: 'wait until kubeadm has ended, or end it',
    })
  }
  if ((await host.disk.read(`${stateDir}/restore/${restoreRecordFile}`)) !== undefined) {
    throw new SlipwayError('StepFailed', `${missing}: a restore of etcd has not ended, which takes manifests away`, {
      nextStep: 'run slipway backup restore on this host to its end, or with --undo',
    })
  }
}

async function putBack({ host, log, warn }: StepContext, manifest: LostManifest): Promise<void> {
  const { path, isBroken, backup, backupPath, content } = manifest
  // It may be a person's, too.
  if (isBroken) await host.files.rename(path, `${backupPath}.broken`)
  await host.files.write(path, content, { mode: 0o600, owner: 'root', group: 'root' })
  log.warn('static pod manifest put back from kubeadm’s backup', { path, backup })
  await warn(`${path} was lost in the middle of kubeadm’s work and was put back from ${backup}`)
}
