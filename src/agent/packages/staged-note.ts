// What was staged is a note of its order. A note is never taken away: a mark beside it says where it does not count.

import {
  type StagedPackages,
  type StagingMark,
  stagedPackagesSchema,
  stagingMarkSchema,
} from '../../api/staged-packages.ts'
import type { Notes } from '../drivers/driver.ts'

/** Undefined where nothing is to change: nothing was staged, or what was is not needed any more. */
export async function readStaged(notes: Notes, note: string): Promise<StagedPackages | undefined> {
  return (await readMark(notes, note)) === 'NotNeeded' ? undefined : await notes.read(note, stagedPackagesSchema)
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
