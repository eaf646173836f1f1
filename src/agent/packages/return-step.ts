// The way back of a package change: staged together with it, where the order asks for a rollback of all.

import type { Reason } from '../../api/reason.ts'
import type { StagedPackages } from '../../api/staged-packages.ts'
import type { JobStep, StepContext } from '../drivers/driver.ts'
import type { PackageManager, PackageSources } from './package-manager.ts'
import { type PackageStepOptions, packageStep } from './package-step.ts'
import { stageOnce } from './stage-once.ts'
import { readMark, readStaged, writeMark } from './staged-note.ts'

const returnNote = (note: string) => `${note}-return`

/**
 * Stages the way back from the packages of `note`, from the sources as they are before the change. A version that is not on
 * offer any more does not hold the work up: it is warned about, and the rollback will fail saying so.
 */
export async function stageReturn(
  context: StepContext,
  manager: PackageManager,
  note: string,
  sources: PackageSources,
  signal: AbortSignal,
): Promise<Reason | undefined> {
  if (context.order.rollback !== 'All') return undefined
  const staged = await readStaged(context.notes, note)
  if (!staged) return undefined
  // Asked again after the drain, it would wait for repositories that it does not need.
  if ((await readMark(context.notes, returnNote(note))) === 'Impossible') return undefined
  const request = { folder: `${staged.folder}-return`, sources }
  const wish = {
    note: returnNote(note),
    answers: (back: StagedPackages) => leadsBack(back, staged),
    stage: () => manager.stageReturn(staged, request, signal),
  }
  const result = await stageOnce(context, manager, wish, signal)
  if (result.ok) return undefined
  if (result.reason.code !== 'VersionUnknown' && result.reason.code !== 'BundleIncomplete') return result.reason
  await writeMark(context.notes, returnNote(note), 'Impossible')
  await context.warn(`these packages cannot be rolled back: ${result.reason.message}`)
  return undefined
}

/** Before other packages are staged under `note`: what was found of the way back from those before does not hold for them. */
export async function reconsiderReturn({ notes }: Pick<StepContext, 'notes'>, note: string): Promise<void> {
  if ((await readMark(notes, returnNote(note))) === 'Impossible') await writeMark(notes, returnNote(note), 'UnderWay')
}

/** From all that is to be changed, and to the versions that are there now. */
function leadsBack(back: StagedPackages, { packages }: StagedPackages): boolean {
  return packages
    .filter(({ file, sideBySide }) => file !== undefined && !sideBySide)
    .every(({ name, previous }) =>
      previous === undefined
        ? back.removals.some((each) => each.name === name)
        : back.packages.some((each) => each.name === name && each.version === previous),
    )
}

const noWayBack = 'echo "the versions before are not on offer any more, so there is no way back" >&2; exit 1'

/** Undoes the packageStep of the same note. */
export function returnStep({ name, note, disruptive }: PackageStepOptions): JobStep {
  const there = packageStep({ name, note, disruptive })
  const back = packageStep({ name, note: returnNote(note), disruptive })
  const hasWay = async ({ notes }: StepContext) =>
    (await readStaged(notes, returnNote(note))) !== undefined ||
    ((await readStaged(notes, note))?.packages.every(({ file }) => file === undefined) ?? true)
  return {
    ...there,
    holds: async (context, signal) => (await hasWay(context)) && (await back.holds?.(context, signal)) === true,
    missing: async (context, signal) => await back.missing?.(context, signal),
    argv: async (context, signal) =>
      (await hasWay(context)) ? await back.argv(context, signal) : ['/bin/sh', '-c', noWayBack],
  }
}
