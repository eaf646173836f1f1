import { emptyRecord, type ProfileRecord, profileRecordSchema } from '../../../api/profile-record.ts'
import type { Disk } from '../../../ports/disk.ts'
import { readSealed, seal, writeAtomically } from '../../journal/sealed-file.ts'

export const profileRecordFile = 'profile.json'

/** What the agent remembers of the profiles, over all orders. Written whole and for good before anything it tells of is changed. */
export interface RecordShelf {
  load(): Promise<ProfileRecord>
  save(record: ProfileRecord): Promise<void>
}

export function recordShelf(disk: Disk, stateDir: string): RecordShelf {
  return {
    load: async () => (await readSealed(disk, `${stateDir}/${profileRecordFile}`, profileRecordSchema)) ?? emptyRecord,
    save: async (record) => {
      // Where nothing is managed nothing is left behind.
      if (!isEmpty(record)) return await writeAtomically(disk, stateDir, profileRecordFile, seal(record))
      if ((await disk.read(`${stateDir}/${profileRecordFile}`)) === undefined) return
      await disk.remove(`${stateDir}/${profileRecordFile}`)
      await disk.syncFolder(stateDir)
    },
  }
}

function isEmpty({ applied, files, units, sysctls, packages, kernelArguments, pending }: ProfileRecord): boolean {
  const lists = [files, units, sysctls, packages, kernelArguments, pending.restarts]
  const state = applied?.state
  const wanted = state && [state.files, state.units, state.sysctls, state.packages, state.repositories]
  const nothingApplied = !wanted?.some((list) => list.length > 0) && !state?.kernelArguments.length
  return nothingApplied && !pending.reload && lists.every((list) => list.length === 0)
}
