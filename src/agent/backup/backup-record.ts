// What the host itself remembers of its backups: the last answer, so that nothing is done twice, and where the last good one went, so
// that it can be restored when the API is gone.

import { type BackupAnswer, backupRecordSchema, type KeptStore, keptStoreSchema } from '../../api/backup.ts'
import type { Disk } from '../../ports/disk.ts'
import { readSealed, seal, writeAtomically } from '../journal/sealed-file.ts'

export const backupAnswerFile = 'backup.json'
export const keptStoreFile = 'backup-store.json'

export async function readAnswer(disk: Disk, stateDir: string): Promise<BackupAnswer | undefined> {
  return (await readSealed(disk, `${stateDir}/${backupAnswerFile}`, backupRecordSchema))?.answer
}

export async function keepAnswer(disk: Disk, stateDir: string, answer: BackupAnswer): Promise<void> {
  await disk.makeFolder(stateDir)
  await writeAtomically(disk, stateDir, backupAnswerFile, seal({ answer }))
}

/** With its credentials and keys, readable by root alone. */
export async function keepStore(disk: Disk, stateDir: string, kept: KeptStore): Promise<void> {
  await disk.makeFolder(stateDir)
  await writeAtomically(disk, stateDir, keptStoreFile, seal(kept), 0o600)
}

export function readStore(disk: Disk, stateDir: string): Promise<KeptStore | undefined> {
  return readSealed(disk, `${stateDir}/${keptStoreFile}`, keptStoreSchema)
}

export async function forgetStore(disk: Disk, stateDir: string): Promise<void> {
  await disk.remove(`${stateDir}/${keptStoreFile}`)
  await disk.syncFolder(stateDir)
}
