// The packages and repositories of a profile: staged while the node still works, then one job.

import type { DesiredState } from '../../../api/desired-state.ts'
import type { ManagedFile, ProfileRecord } from '../../../api/profile-record.ts'
import type { Reason } from '../../../api/reason.ts'
import { leftOutSchema } from '../../../api/staged-packages.ts'
import type { Host } from '../../../ports/host.ts'
import { packageManagerOf } from '../../packages/find-package-manager.ts'
import type { PackageManager, Repairs, StageRequest } from '../../packages/package-manager.ts'
import { sourcesOf } from '../../packages/package-sources.ts'
import { packageStep } from '../../packages/package-step.ts'
import { stageOnce, wishFor } from '../../packages/stage-once.ts'
import { dropStaged, readStaged } from '../../packages/staged-note.ts'
import type { Turn } from '../../turn.ts'
import type { JobStep, StepContext } from '../driver.ts'
import { fileDifference } from '../files/managed-file.ts'
import {
  both,
  type Installed,
  isNothing,
  type PackageRequest,
  requestFor,
  restoreRequest,
  retiredPackages,
  withPackages,
} from './package-request.ts'
import { kubeletUnit, writeFiles } from './settings.ts'
import type { PlacedFile, Site } from './site.ts'

/** Stages what the target asks for and what no profile wants any more; the reason where that can never work. */
export async function stagePackages(
  staging: StepContext,
  { note, target, record }: { readonly note: string; readonly target: DesiredState; readonly record: ProfileRecord },
  signal: AbortSignal,
): Promise<Reason | undefined> {
  const { host } = staging
  const retired = retiredPackages(record, target)
  if (target.packages.length + target.repositories.length + retired.length === 0) return undefined
  const manager = await packageManagerOf(host, signal)
  if (!manager)
    return {
      code: 'PackageManagerMissing',
      message: 'the profile names packages, and this host has no package manager',
    }
  for (;;) {
    const installed = await installedOf(manager, target, record, signal)
    const forward = requestFor(target, installed)
    const back = await possible(staging, note, restoreRequest(retired, installed))
    if (isNothing(forward) && isNothing(back)) {
      await dropStaged(staging.notes, note)
      return undefined
    }
    const place = placeOf(staging, { note, target, record }, manager)
    const request = { ...both(forward, back), ...place, repairs: repairsOf(staging) }
    const result = await stageOnce(staging, manager, wishFor(note, manager, request, signal), signal)
    if (result.ok) return undefined
    if (isNothing(back) || !isGoneForGood(result.reason)) return result.reason
    await staging.warn(`packages cannot be put back as they were before the profile: ${result.reason.message}`)
    await leaveOut(staging, note, back)
  }
}

/** What somebody else's work left broken is no part of the change for which the node need not be drained. */
function repairsOf({ order }: StepContext): Repairs {
  return order.work.profile?.undrained ? 'Asked' : 'All'
}

function placeOf(
  staging: StepContext,
  { note, target, record }: { readonly note: string; readonly target: DesiredState; readonly record: ProfileRecord },
  manager: PackageManager,
): Pick<StageRequest, 'folder' | 'sources'> {
  const folder = `${staging.stagingFolder}/${note}`
  const files = repositoryFiles(manager, target)
  const sources = sourcesOf(staging, manager, files)
  const paths = files.map(({ path }) => path)
  const without = obsolete(record, paths).map(({ path }) => path)
  return { folder, sources: sources.from === 'Host' ? { ...sources, without } : sources }
}

/** A repository without a signature, a full disk or a hold is put right: what was promised is put back then, not forgotten. */
function isGoneForGood({ code }: Reason): boolean {
  return code === 'VersionUnknown' || code === 'BundleIncomplete' || code === 'PackageConflict'
}

const leftOutNote = (note: string) => `${note}-left-out`

/** Not what was left out before: asked for again after the drain, it would wait for repositories that nothing needs. */
async function possible({ notes }: StepContext, note: string, back: PackageRequest): Promise<PackageRequest> {
  const { names } = (await notes.read(leftOutNote(note), leftOutSchema)) ?? { names: [] }
  const isPossible = ({ name }: { readonly name: string }) => !names.includes(name)
  return { wanted: back.wanted.filter(isPossible), unwanted: back.unwanted.filter(isPossible) }
}

/** What cannot be put back must not hold up the rest: old versions leave the repositories, others come to need what came along. */
async function leaveOut({ notes }: StepContext, note: string, { wanted, unwanted }: PackageRequest): Promise<void> {
  const { names } = (await notes.read(leftOutNote(note), leftOutSchema)) ?? { names: [] }
  const more = (wanted.length > 0 ? wanted : unwanted).map(({ name }) => name)
  await notes.write(leftOutNote(note), { names: [...names, ...more] })
}

async function installedOf(
  manager: PackageManager,
  target: DesiredState,
  record: ProfileRecord,
  signal: AbortSignal,
): Promise<Installed> {
  const names = [...target.packages, ...record.packages].map(({ name }) => name)
  return await manager.installed([...new Set(names)], signal)
}

/** The transaction; how packages were found is recorded before it starts. */
export function packagesStep(
  { name, note, turn }: { readonly name: string; readonly note: string; readonly turn: Turn },
  siteOf: (context: StepContext) => Site,
  targetOf: (context: StepContext) => Promise<DesiredState>,
): JobStep {
  const step = packageStep({ name, note, disruptive: true })
  return {
    ...step,
    argv: async (context, signal) => {
      await turn.take(async () => remember(context, note, siteOf(context), await targetOf(context), signal))
      return await step.argv(context, signal)
    },
  }
}

async function remember(
  { notes, host }: StepContext,
  note: string,
  { record }: Site,
  target: DesiredState,
  signal: AbortSignal,
): Promise<void> {
  const staged = await readStaged(notes, note)
  const manager = await packageManagerOf(host, signal)
  if (!staged || !manager) return
  const names = [...staged.packages, ...staged.removals].map(({ name }) => name)
  const known = withPackages(await record.load(), staged, target, await manager.installed(names, signal))
  const kubelet = staged.packages.some(({ name, file }) => name === 'kubelet' && file !== undefined)
  const restarts = [...new Set([...known.pending.restarts, ...(kubelet ? [kubeletUnit] : [])])]
  await record.save({ ...known, pending: { ...known.pending, restarts } })
}

export async function wantedRepositories(
  host: Host,
  target: DesiredState,
  signal: AbortSignal,
): Promise<readonly PlacedFile[]> {
  const manager = target.repositories.length > 0 ? await packageManagerOf(host, signal) : undefined
  return manager ? repositoryFiles(manager, target) : []
}

/** Those for this host's package manager; a profile may name both kinds. */
function repositoryFiles(manager: PackageManager, target: DesiredState): readonly PlacedFile[] {
  return target.repositories.flatMap(({ whenRemoved, name, apt, dnf }) =>
    manager.repositoryFiles({ name, ...(apt && { apt }), ...(dnf && { dnf }) }).map(({ path, content }) => {
      return { path, content, mode: 0o644, owner: 'root', group: 'root', restarts: [], whenRemoved }
    }),
  )
}

export async function applyRepositories(site: Site, target: DesiredState, signal: AbortSignal): Promise<void> {
  await writeFiles(site, await wantedRepositories(site.host, target, signal), 'Repository', signal)
}

export async function repositoryDifference(
  { host }: Site,
  target: DesiredState,
  signal: AbortSignal,
): Promise<string | undefined> {
  for (const file of await wantedRepositories(host, target, signal)) {
    const wrong = await fileDifference(host.files, file)
    if (wrong !== undefined) return wrong
  }
  return undefined
}

/** Repository files we wrote that the target has not. */
export function obsolete(record: ProfileRecord, paths: readonly string[]): readonly ManagedFile[] {
  return record.files.filter(({ path, role }) => role === 'Repository' && !paths.includes(path))
}
