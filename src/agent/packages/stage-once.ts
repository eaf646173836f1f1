import type { Reason } from '../../api/reason.ts'
import { type StagedPackages, stagedPackagesSchema } from '../../api/staged-packages.ts'
import type { StepContext } from '../drivers/driver.ts'
import type { PackageManager, StageResult } from './package-manager.ts'
import { readMark, writeMark } from './staged-note.ts'

type Outcome =
  | { readonly ok: true; readonly staged: StagedPackages; readonly fresh: boolean }
  | { readonly ok: false; readonly reason: Reason }

/**
 * Stages and notes it, unless what an earlier call staged still fits the host: a node that was drained meanwhile must not wait
 * for a repository.
 */
export async function stageOnce(
  { host, notes }: Pick<StepContext, 'host' | 'notes'>,
  manager: PackageManager,
  note: string,
  stage: () => Promise<StageResult>,
  signal: AbortSignal,
): Promise<Outcome> {
  const before = await notes.read(note, stagedPackagesSchema)
  const mark = await readMark(notes, note)
  const counts = mark === undefined || mark === 'Over'
  if (before && counts && (await stillFits(host, manager, before, signal))) {
    return { ok: true, staged: before, fresh: false }
  }
  // From now on the folder may be half of one and half of the other.
  if (before && counts) await writeMark(notes, note, 'UnderWay')
  const result = await stage()
  if (!result.ok) return result
  await notes.write(note, result.staged)
  if (before) await writeMark(notes, note, 'Over')
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
