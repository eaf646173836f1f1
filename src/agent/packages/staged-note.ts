// What was staged is a note of its order. A note is never taken away: a mark beside it says where it does not count.

import {
  type StagedPackages,
  type StagingMark,
  stagedPackagesSchema,
  stagingMarkSchema,
} from '../../api/staged-packages.ts'
import type { Notes } from '../drivers/driver.ts'

/** What was staged and counts: it is whole, and there is still something to change. */
export async function readStaged(notes: Notes, note: string): Promise<StagedPackages | undefined> {
  const mark = await readMark(notes, note)
  return mark === undefined || mark === 'Over' ? await notes.read(note, stagedPackagesSchema) : undefined
}

/** What was staged before does not count any more: the host has come to be as wanted without it. */
export async function dropStaged(notes: Notes, note: string): Promise<void> {
  if (await notes.read(note, stagedPackagesSchema)) await writeMark(notes, note, 'NotNeeded')
}

export async function readMark(notes: Notes, note: string): Promise<StagingMark['state'] | undefined> {
  return (await notes.read(markOf(note), stagingMarkSchema))?.state
}

export async function writeMark(notes: Notes, note: string, state: StagingMark['state']): Promise<void> {
  await notes.write(markOf(note), { state })
}

const markOf = (note: string) => `${note}-staging`
