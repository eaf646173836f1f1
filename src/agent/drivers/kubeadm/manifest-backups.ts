// Where kubeadm puts the manifests it replaces.

import type { Host } from '../../../ports/host.ts'

export const backupFolder = '/etc/kubernetes/tmp'
const backupName = /^kubeadm-backup-manifests-/

/** Those of all upgrades, the oldest first: kubeadm names them by the time, and leaves them there for good. */
export async function kubeadmBackups(host: Host): Promise<readonly string[]> {
  return (await host.files.names(backupFolder)).filter((name) => backupName.test(name))
}
