// A store's record on the policy knows the backups of its schedule and those a person asked for; those of updates stand in theirs.

import type { StoreRecord, UpdateBackup } from '../../api/backup-plan.ts'
import type { DirectUpdate } from '../../api/direct-update.ts'

/** The newest good backup in a store that is on record, whatever it was made for. */
export function newestGood(
  store: string,
  record: StoreRecord | undefined,
  updates: readonly DirectUpdate[],
): Pick<UpdateBackup, 'at' | 'verified'> | undefined {
  const made = updates.flatMap(({ status }) => status?.backups ?? []).filter((backup) => backup.store === store)
  const all = record?.lastSuccess ? [record.lastSuccess, ...made] : made
  return all.toSorted((a, b) => b.at.localeCompare(a.at))[0]
}
