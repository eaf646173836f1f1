// A restore that was begun goes on as it was planned. Whoever asks for another one is told, instead of being given the old one.

import type { RestoreRecord, RestoreSource } from '../../api/restore-record.ts'

/** What a person asks for, as the options of the command say it. */
export interface AskedRestore extends RestoreSource {
  readonly name?: string | undefined
  readonly members?: string | undefined
  readonly restoreId?: string | undefined
}

/** What is asked for and is not so in the restore that was begun, for people; empty where the same one is meant. */
export function differences(record: RestoreRecord, asked: AskedRestore): readonly string[] {
  const { backup, source = {} } = record
  const wanted = effective(asked)
  // A folder that settings name is no option.
  const begun = { ...source, folder: source.settings === undefined ? source.folder : undefined }
  const pairs: readonly (readonly [string, string | undefined, string | undefined])[] = [
    ['', wanted.file === undefined ? asked.name : undefined, backup.name],
    ['--members', sortedMembers(asked.members), sortedMembers(record.members)],
    ['--restore-id', asked.restoreId, record.restoreId],
    ['--file', wanted.file, begun.file],
    ['--folder', wanted.folder, begun.folder],
    ['--settings', wanted.settings, begun.settings],
    ['--key-file', wanted.keyFile, begun.keyFile],
  ]
  return pairs.flatMap(([option, want, is]) =>
    want === undefined || want === is ? [] : [option === '' ? want : `${option} ${want}`],
  )
}

/** The first place that is given counts, as it did for the restore that was begun. */
function effective({ file, folder, settings, keyFile }: RestoreSource): RestoreSource {
  if (file !== undefined) return { file }
  return { ...(folder === undefined ? { settings } : { folder }), keyFile }
}

function sortedMembers(members: string | undefined): string | undefined {
  const all = members?.split(',').map((member) => member.trim())
  return all?.toSorted().join()
}
