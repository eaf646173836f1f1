// kubeadm moves a manifest to its backup and then the new one in its place. Power lost between the two, or before the new one
// reached the disk, leaves a control plane that cannot come up by itself, and without it kubeadm cannot be run again.

import { controlPlaneComponents, parseStaticPod } from '../../../core/kubernetes/static-pod.ts'
import type { StepContext } from '../driver.ts'

const manifests = '/etc/kubernetes/manifests'
const backups = '/etc/kubernetes/tmp'
const backupName = /^kubeadm-backup-manifests-/

/** Puts back each manifest that is missing or broken and that kubeadm's newest backup holds whole. */
export async function restoreLostManifests({
  host,
  log,
  warn,
}: Pick<StepContext, 'host' | 'log' | 'warn'>): Promise<void> {
  // Named by the time they were made.
  const newest = (await host.files.names(backups)).filter((name) => backupName.test(name)).at(-1)
  if (newest === undefined) return
  for (const component of [...controlPlaneComponents, 'etcd']) {
    const path = `${manifests}/${component}.yaml`
    if (parseStaticPod((await host.files.read(path)) ?? '')) continue
    const kept = await host.files.read(`${backups}/${newest}/${component}.yaml`)
    if (kept === undefined || !parseStaticPod(kept)) continue
    await host.files.write(path, kept, { mode: 0o600, owner: 'root', group: 'root' })
    log.warn('static pod manifest put back from kubeadm’s backup', { path, backup: newest })
    await warn(`${path} was lost in the middle of kubeadm’s work and was put back from ${newest}`)
  }
}
