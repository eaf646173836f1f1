import type { Reason } from '../../api/reason.ts'
import type { StagedPackages } from '../../api/staged-packages.ts'
import type { StepContext } from '../drivers/driver.ts'
import { answersRequest } from './answers-request.ts'
import type { PackageManager, StageRequest, StageResult } from './package-manager.ts'
import { readMark, readStaged, writeMark } from './staged-note.ts'

export interface StageWish {
  readonly note: string
  /** Whether it is all that is asked for now; others may have changed the host since it was staged. */
  answers(staged: StagedPackages): boolean
  stage(): Promise<StageResult>
}

/** For these packages and no others; each of them is in what is staged for it, changed or not. */
export function wishFor(note: string, manager: PackageManager, request: StageRequest, signal: AbortSignal): StageWish {
  return {
    note,
    answers: (staged) => answersRequest(staged, request),
    stage: () => manager.stage(request, signal),
  }
}

type Outcome =
  | { readonly ok: true; readonly staged: StagedPackages; readonly fresh: boolean }
  | { readonly ok: false; readonly reason: Reason }

/**
 * Stages and notes it, unless what an earlier call staged is still what is asked for and fits the host: a node that was drained
 * meanwhile must not wait for a repository.
 */
export async function stageOnce(
  { host, notes, warn }: Pick<StepContext, 'host' | 'notes' | 'warn'>,
  manager: PackageManager,
  { note, answers, stage }: StageWish,
  signal: AbortSignal,
): Promise<Outcome> {
  const before = await readStaged(notes, note)
  if (before && answers(before) && (await stillFits(host, manager, before, signal))) {
    return { ok: true, staged: before, fresh: false }
  }
  // From now on the folder may be half of one and half of the other.
  if (before) await writeMark(notes, note, 'UnderWay')
  const result = await stage()
  if (!result.ok) return result
  // Before the note: what is noted is not staged again, and would not be told.
  for (const warning of result.warnings ?? []) await warn(warning)
  await notes.write(note, result.staged)
  if ((await readMark(notes, note)) !== undefined) await writeMark(notes, note, 'Over')
  return { ...result, fresh: true }
}

/** The files are whole, and nobody else has changed these packages, or holds one of them back or no longer. */
async function stillFits(
  host: StepContext['host'],
  manager: PackageManager,
  { packages, removals }: StagedPackages,
  signal: AbortSignal,
): Promise<boolean> {
  const installed = await manager.installed(
    [...packages, ...removals].map(({ name }) => name),
    signal,
  )
  for (const { name, version, previous, held, heldBefore, file, sha256 } of packages) {
    const here = installed.get(name)
    if (here?.version !== version && here?.version !== previous) return false
    if (here && here.held !== held && here.held !== heldBefore) return false
    if (file !== undefined && (await host.files.sha256(file)) !== sha256) return false
  }
  return true
}
