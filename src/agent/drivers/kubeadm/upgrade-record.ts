// The `kubeadm upgrade` of this host's control plane that was begun and has not ended well. It stands beside the orders: who tries
// again does so with another order, and what kubeadm has left undone cannot be seen on the host.

import { type BegunUpgrade, begunUpgradeSchema } from '../../../api/journal.ts'
import { upgradeBegunSchema } from '../../../api/kubernetes-notes.ts'
import type { Disk } from '../../../ports/disk.ts'
import { readSealed, seal, writeAtomically } from '../../journal/sealed-file.ts'
import type { StepContext } from '../driver.ts'
import { targetVersion } from '../kubernetes-target.ts'
import { kubeadmBackups } from './manifest-backups.ts'

export const upgradeRecordFile = 'kubeadm-upgrade.json'

const noteOfOrder = 'kubeadm-upgrade'

export interface UpgradeRecord {
  /** That of the order's own node. Throws JournalCorrupt for one that is damaged or of a newer agent. */
  find(context: Pick<StepContext, 'host' | 'notes' | 'order'>): Promise<BegunUpgrade | undefined>
  /** Before kubeadm starts. */
  begin(disk: Disk, upgrade: BegunUpgrade): Promise<void>
  /** After the effect of all of it was seen. */
  end(disk: Disk): Promise<void>
}

export function upgradeRecord(stateDir: string): UpgradeRecord {
  const path = `${stateDir}/${upgradeRecordFile}`
  return {
    find: async ({ host, notes, order }) => {
      const begun = await readSealed(host.disk, path, begunUpgradeSchema)
      if (begun?.nodeUID === order.nodeUID) return begun
      const noted = await notes.read(noteOfOrder, upgradeBegunSchema)
      // By an earlier agent, which did not tell the backups of before: all but the newest may be.
      const backups = noted ? (await kubeadmBackups(host)).slice(0, -1) : []
      return noted && { nodeUID: order.nodeUID, version: targetVersion(order).text, backups, ...noted }
    },
    begin: (disk, upgrade) => writeAtomically(disk, stateDir, upgradeRecordFile, seal(upgrade)),
    end: async (disk) => {
      if ((await disk.read(path)) !== undefined) await disk.remove(path)
      await disk.syncFolder(stateDir)
    },
  }
}
