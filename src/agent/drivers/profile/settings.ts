// Files, kernel settings and units made as wanted. What was there before is recorded first, and what changed files ask of
// systemd too: cut off anywhere, it is done again and ends the same.

import type { DesiredState } from '../../../api/desired-state.ts'
import type { ManagedFile, ManagedSysctl, ManagedUnit, ProfileRecord } from '../../../api/profile-record.ts'
import { isSysctlFile } from '../../../core/profile/wishes.ts'
import type { Host } from '../../../ports/host.ts'
import { fileDifference, priorOf } from '../files/managed-file.ts'
import { loadSysctls, readSysctl, settingRefused, sysctlDifference } from '../sysctls/sysctl.ts'
import {
  bringUnit,
  isActive,
  isEnabled,
  isUnitFile,
  lookAtUnit,
  reloadUnits,
  restartUnit,
} from '../units/systemd-unit.ts'
import { type PlacedFile, placedFile, placedFiles, type Site } from './site.ts'

/** Its restart is a step of its own: only a heartbeat after it counts. */
export const kubeletUnit = 'kubelet.service'

/** Which units may be restarted for files that changed; the others stay pending. */
export type MayRestart = (unit: string) => boolean

export const anyUnit: MayRestart = () => true

export async function applySettings(
  site: Site,
  target: DesiredState,
  mayRestart: MayRestart,
  signal: AbortSignal,
): Promise<void> {
  const { host } = site
  await writeFiles(site, await placedFiles(site, target), 'File', signal)
  const unknown = await applySysctls(site, target, target.sysctls, signal)
  const units = await recordUnits(site, target, signal)
  await settlePending(site, mayRestart, signal)
  for (const unit of units) await bringUnit(host, unit, signal)
  // A unit reads settings when it starts, so they come first; but some come with a module that only a unit loads.
  const [missing] = await applySysctls(site, target, unknown, signal)
  if (missing) throw settingRefused(`the kernel has no setting ${missing.key} (NodeProfile ${missing.profile})`)
}

/** Writes those that differ. */
export async function writeFiles(
  site: Site,
  wanted: readonly PlacedFile[],
  role: ManagedFile['role'],
  signal: AbortSignal,
): Promise<void> {
  const { host, record } = site
  const differing: PlacedFile[] = []
  for (const file of wanted) if (await fileDifference(host.files, file)) differing.push(file)
  if (differing.length === 0) return
  const before = await record.load()
  const made = new Set(before.files.flatMap(({ prior }) => (prior.kind === 'none' ? prior.missingFolders : [])))
  const managed: ManagedFile[] = []
  for (const file of differing) {
    const { path, restarts, whenRemoved } = file
    if (before.files.some((known) => known.path === path) || (await wasFoundSo(site, before, file))) continue
    managed.push({ path, role, restarts: [...restarts], whenRemoved, prior: await priorOf(host.files, path, made) })
  }
  await record.save(withPending({ ...before, files: [...before.files, ...managed] }, differing))
  for (const { path, content, mode, owner, group } of differing) {
    signal.throwIfAborted()
    await host.files.write(path, content, { mode, owner, group })
  }
}

/**
 * Applied as it is wanted now, with nothing to be put back: the host had it before. What lies there now is drift, and never comes back.
 */
async function wasFoundSo(site: Site, { applied }: ProfileRecord, wanted: PlacedFile): Promise<boolean> {
  const same = applied?.state.files.find(({ path }) => path === wanted.path)
  if (!same) return false
  const { content, mode, owner, group } = await placedFile(site, same)
  return content === wanted.content && mode === wanted.mode && owner === wanted.owner && group === wanted.group
}

export function withPending(
  record: ProfileRecord,
  changed: readonly { readonly path: string; readonly restarts: readonly string[] }[],
): ProfileRecord {
  const { reload, restarts } = record.pending
  return {
    ...record,
    pending: {
      reload: reload || changed.some(({ path }) => isUnitFile(path)),
      restarts: [...new Set([...restarts, ...changed.flatMap((file) => file.restarts)])],
    },
  }
}

/** Whether files that changed still ask something of systemd, the kubelet's restart aside. */
export function isPending({ pending }: ProfileRecord): boolean {
  return pending.reload || pending.restarts.some((unit) => unit !== kubeletUnit)
}

export async function settlePending(
  { host, record }: Site,
  mayRestart: MayRestart,
  signal: AbortSignal,
): Promise<void> {
  const { reload, restarts } = (await record.load()).pending
  if (reload) {
    await reloadUnits(host, signal)
    await notePending(record, (pending) => ({ ...pending, reload: false }))
  }
  for (const unit of restarts) if (unit !== kubeletUnit && mayRestart(unit)) await restart(host, record, unit, signal)
}

export async function restartKubelet({ host, record }: Site, signal: AbortSignal): Promise<void> {
  await restart(host, record, kubeletUnit, signal)
}

/** Noted at once: where a later one fails, this one is not restarted again. */
async function restart(host: Host, record: Site['record'], unit: string, signal: AbortSignal): Promise<void> {
  await restartUnit(host, unit, signal)
  await notePending(record, (pending) => ({
    ...pending,
    restarts: pending.restarts.filter((other) => other !== unit),
  }))
}

async function notePending(
  record: Site['record'],
  change: (pending: ProfileRecord['pending']) => ProfileRecord['pending'],
): Promise<void> {
  const before = await record.load()
  await record.save({ ...before, pending: change(before.pending) })
}

/** Sets those the kernel has; returns the others. */
async function applySysctls(
  { host, record }: Site,
  target: DesiredState,
  wanted: DesiredState['sysctls'],
  signal: AbortSignal,
): Promise<DesiredState['sysctls']> {
  const before = await record.load()
  const managed: ManagedSysctl[] = []
  const paths = new Set<string>()
  const unknown: DesiredState['sysctls'] = []
  for (const sysctl of wanted) {
    const { key, value, whenRemoved, profile } = sysctl
    const found = await readSysctl(host, key, signal)
    if (found === undefined) unknown.push(sysctl)
    if (found === undefined || sysctlDifference(key, value, found) === undefined) continue
    for (const file of target.files) if (file.profile === profile && isSysctlFile(file.path)) paths.add(file.path)
    if (before.sysctls.some((known) => known.key === key)) continue
    // Applied with nothing to be put back: the host had that value before, and has drifted from it since.
    const hadBefore = before.applied?.state.sysctls.find((one) => one.key === key)?.value
    managed.push({ key, whenRemoved, prior: hadBefore ?? found })
  }
  if (managed.length > 0) await record.save({ ...before, sysctls: [...before.sysctls, ...managed] })
  for (const path of paths) await load(host, path, target, signal)
  return unknown
}

async function load(host: Host, path: string, target: DesiredState, signal: AbortSignal): Promise<void> {
  const complaint = await loadSysctls(host, path, signal)
  const owner = target.files.find((file) => file.path === path)?.profile
  for (const { key, value, profile } of target.sysctls) {
    if (profile !== owner) continue
    const found = await readSysctl(host, key, signal)
    const wrong = found === undefined ? undefined : sysctlDifference(key, value, found)
    if (wrong !== undefined) throw settingRefused(`after loading ${path} ${wrong}${complaint && `: ${complaint}`}`)
  }
}

/** How units stood before they were managed; what is managed of one may grow from order to order. */
async function recordUnits(
  { host, record }: Site,
  target: DesiredState,
  signal: AbortSignal,
): Promise<DesiredState['units']> {
  const before = await record.load()
  const units: ManagedUnit[] = []
  for (const { name, enabled, state, whenRemoved } of target.units) {
    const known = before.units.find((unit) => unit.name === name)
    const look = await lookAtUnit(host, name, signal)
    units.push({
      name,
      whenRemoved: known?.whenRemoved ?? whenRemoved,
      ...(enabled !== undefined && { enabled: known?.enabled ?? isEnabled(look) }),
      ...(enabled === undefined && known?.enabled !== undefined && { enabled: known.enabled }),
      ...(state !== undefined && { active: known?.active ?? isActive(look) }),
      ...(state === undefined && known?.active !== undefined && { active: known.active }),
    })
  }
  const others = before.units.filter(({ name }) => !units.some((unit) => unit.name === name))
  const after = { ...before, units: [...others, ...units] }
  if (JSON.stringify(after.units) !== JSON.stringify(before.units)) await record.save(after)
  return target.units
}
