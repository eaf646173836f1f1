// Empty files that say that a host is done, for programs of others that look for them. Made last of all, so that none is ever
// there for work that failed.

import type { Reason } from '../../../api/reason.ts'
import { SlipwayError } from '../../../api/slipway-error.ts'
import { type StampNotes, stampNotesSchema } from '../../../api/stamp-notes.ts'
import type { HostFiles } from '../../../ports/host-files.ts'
import type { ActStep, Driver, StepContext } from '../driver.ts'
import { priorOf, restoreFile } from '../files/managed-file.ts'

const attributes = { mode: 0o644, owner: 'root', group: 'root' }
const noteName = 'stamps-before'

export const stampsDriver: Driver = {
  name: 'stamps',
  concerns: ({ work }) => work.stamps !== undefined,
  inspect: async ({ host, order }) =>
    Object.fromEntries(
      await Promise.all((order.work.stamps ?? []).map(async (path) => [path, (await host.files.look(path)).kind])),
    ),
  stage: async (staging): Promise<Reason | undefined> => {
    try {
      for (const path of await missingStamps(staging)) await priorOf(staging.host.files, path, new Set())
      return undefined
    } catch (error) {
      if (!(error instanceof SlipwayError) || error.code !== 'PathTaken') throw error
      return { code: 'PathTaken', message: error.message }
    }
  },
  steps: () => [makeStamps],
  undo: { possible: true, steps: () => [removeStamps] },
}

const makeStamps: ActStep = {
  name: 'stamps',
  disruptive: false,
  attempts: 3,
  brief: true,
  holds: async (context) => (await missingStamps(context)).length === 0,
  act: async (context) => {
    const { host, notes } = context
    const absent = await missingStamps(context)
    if (!(await notes.read(noteName, stampNotesSchema)))
      await notes.write(noteName, { files: await priors(host.files, absent) })
    for (const path of absent) await host.files.write(path, '', attributes)
  },
  missing: async (context) => {
    const [path] = await missingStamps(context)
    return path === undefined ? undefined : `${path} is not there`
  },
}

const removeStamps: ActStep = {
  name: 'remove-stamps',
  disruptive: false,
  attempts: 3,
  brief: true,
  act: async ({ host, notes }, signal) => {
    const before = await notes.read(noteName, stampNotesSchema)
    for (const { path, prior } of (before?.files ?? []).toReversed()) await restoreFile(host, path, prior, signal)
  },
}

/** A file that is there already is as good, whatever it says. */
async function missingStamps({ host, order }: StepContext): Promise<readonly string[]> {
  const looks = await Promise.all(
    (order.work.stamps ?? []).map(async (path) => ({ path, look: await host.files.look(path) })),
  )
  return looks.flatMap(({ path, look }) => (look.kind === 'file' ? [] : [path]))
}

/** Folders made for the first are not missing for the second. */
async function priors(files: HostFiles, paths: readonly string[]): Promise<StampNotes['files']> {
  const made = new Set<string>()
  const found: StampNotes['files'] = []
  for (const path of paths) {
    const prior = await priorOf(files, path, made)
    if (prior.kind === 'none') for (const folder of prior.missingFolders) made.add(folder)
    found.push({ path, prior })
  }
  return found
}
