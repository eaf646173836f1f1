// What makes one restore another one than the last: etcd counts a member as its own by the token and the addresses alone, so a second
// restore of the same backup with the same token would take members of the first one in, and with them what it was to undo.

import { type RestoreRecord, restoreIdSchema } from '../../api/restore-record.ts'

/** From a fresh uuid: the same on every host of a restore, and of no other. */
export function restoreIdOf(uuid: string): string {
  return uuid.replaceAll('-', '').toLowerCase().slice(-16)
}

/** Why the text is no id of a restore; undefined where it is one. */
export function whyNoRestoreId(text: string): string | undefined {
  return restoreIdSchema.safeParse(text).success ? undefined : `"${text}" is no id of a restore: 16 hexadecimal digits`
}

/**
 * Whether a member of that restore ran here already. Made anew from the backup it would have forgotten what it agreed to, under the
 * name it agreed by: etcd may then lose what a majority has.
 */
export function hasRun(past: readonly Pick<RestoreRecord, 'restoreId' | 'begun'>[], restoreId: string): boolean {
  return past.some((record) => record.restoreId === restoreId && record.begun.includes('StartEtcd'))
}
