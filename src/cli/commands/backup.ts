// slipway backup: backups of etcd, asked for through the operator and listed from what agents said of their stores; verified and
// restored without any of them.

import type { Command } from 'commander'
import type { RunAction } from '../command-context.ts'
import { addBackupCreate } from './backup-create.ts'
import { addBackupList } from './backup-list.ts'
import { addBackupRestore } from './backup-restore.ts'
import { addBackupVerify } from './backup-verify.ts'

export function addBackup(parent: Command, run: RunAction): void {
  const backup = parent
    .command('backup')
    .description(
      'Makes backups of etcd in the stores of MaintenancePolicy/default, and lists what is in them; verifies and restores any.',
    )
    .addHelpText('after', '\nExamples:\n  slipway backup create --store nightly\n  slipway backup list')
  addBackupCreate(backup, run)
  addBackupList(backup, run)
  addBackupVerify(backup, run)
  addBackupRestore(backup, run)
}
