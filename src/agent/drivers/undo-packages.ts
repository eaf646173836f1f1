// Back to the versions of before. They are fetched only when they are needed, from the repositories as they were: while they are
// installed no package manager hands out their files.

import { SlipwayError } from '../../api/slipway-error.ts'
import { packageManagerOf } from '../packages/find-package-manager.ts'
import { sourcesOf } from '../packages/package-sources.ts'
import { packageStep } from '../packages/package-step.ts'
import { readStaged } from '../packages/staged-note.ts'
import type { ActStep, Step, StepContext } from './driver.ts'
import { isSwitchedBack, switchBack, switchesOf } from './repository-switch.ts'

/**
 * `note` names what was staged for the work; `component` names the steps. `repositories`: whether the host's own go back, too. That
 * is no step of its own, so that an order begun by an agent without it keeps its way back.
 */
export function undoPackageSteps(
  component: string,
  note: string,
  repositories: 'Keep' | 'SwitchBack' = 'Keep',
): readonly Step[] {
  const undoNote = `${note}-before`
  const isFetched = async (context: StepContext, signal: AbortSignal) =>
    (await readStaged(context.notes, undoNote)) !== undefined || (await isAsBefore(context, note, signal))
  const fetch: ActStep = {
    name: `fetch-old-${component}`,
    disruptive: false,
    attempts: 5,
    timeoutMs: 30 * 60_000,
    holds: async (context, signal) =>
      (await isFetched(context, signal)) && (repositories === 'Keep' || (await isSwitchedBack(context))),
    act: async (context, signal) => {
      if (!(await isFetched(context, signal))) await fetchBefore(context, component, note, undoNote, signal)
      // Last: while the old packages cannot be had, the repository stays with the new ones.
      if (repositories === 'SwitchBack') await switchBack(context)
    },
  }
  return [fetch, packageStep({ name: `install-old-${component}`, note: undoNote, disruptive: false })]
}

/** The work had not come to the packages yet: there is nothing to take back. */
async function isAsBefore({ host, notes }: StepContext, note: string, signal: AbortSignal): Promise<boolean> {
  const staged = (await readStaged(notes, note))?.packages ?? []
  const installed = await (await packageManagerOf(host, signal))?.installed(
    staged.map(({ name }) => name),
    signal,
  )
  return staged.every(({ name, previous }) => {
    const here = installed?.get(name)
    return here?.version === previous && here?.whole !== false
  })
}

async function fetchBefore(
  context: StepContext,
  component: string,
  note: string,
  undoNote: string,
  signal: AbortSignal,
): Promise<void> {
  const { host, notes, stagingFolder } = context
  const changed = (await readStaged(notes, note))?.packages ?? []
  const wanted = changed.flatMap(({ name, previous, version, held }) =>
    previous === undefined || previous === version ? [] : [{ name, version: previous, hold: held }],
  )
  const manager = await packageManagerOf(host, signal)
  if (!manager || wanted.length === 0) return
  const files = (await switchesOf(notes)).map(({ path, before }) => ({ path, content: before }))
  const folder = `${stagingFolder}/${component}-before`
  const result = await manager.stage({ folder, sources: sourcesOf(context, manager, files), wanted }, signal)
  if (!result.ok) throw new SlipwayError(result.reason.code, result.reason.message)
  for (const warning of result.warnings ?? []) await context.warn(warning)
  await notes.write(undoNote, result.staged)
}
