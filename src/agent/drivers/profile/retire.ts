// What no profile wants any more goes back to what it was, or stays where its profile said so. The record forgets an item
// only after that was done.

import type { DesiredState } from '../../../api/desired-state.ts'
import type { ManagedFile, ProfileRecord } from '../../../api/profile-record.ts'
import { restoreFile } from '../files/managed-file.ts'
import { readSysctl, setSysctl } from '../sysctls/sysctl.ts'
import { restoreUnit } from '../units/systemd-unit.ts'
import { anyUnit, settlePending, withPending } from './settings.ts'
import type { Site } from './site.ts'

/** The part of the record that the target does not want. */
export function unwanted(
  record: ProfileRecord,
  target: DesiredState,
): Pick<ProfileRecord, 'files' | 'units' | 'sysctls'> {
  const paths = new Set(target.files.map(({ path }) => path))
  const units = new Set(target.units.map(({ name }) => name))
  const keys = new Set(target.sysctls.map(({ key }) => key))
  return {
    files: record.files.filter(({ path, role }) => role === 'File' && !paths.has(path)),
    units: record.units.filter(({ name }) => !units.has(name)),
    sysctls: record.sysctls.filter(({ key }) => !keys.has(key)),
  }
}

export function isRetired(record: ProfileRecord, target: DesiredState): boolean {
  const { files, units, sysctls } = unwanted(record, target)
  return files.length + units.length + sysctls.length === 0
}

export async function retireSettings(site: Site, target: DesiredState, signal: AbortSignal): Promise<void> {
  const { host, record } = site
  const { files, units, sysctls } = unwanted(await record.load(), target)
  // A unit is put back while its files are still there.
  for (const unit of units) if (unit.whenRemoved === 'Restore') await restoreUnit(host, unit, signal)
  await retireFiles(site, files, signal)
  for (const { key, prior, whenRemoved } of sysctls) {
    // One that went with its module has nothing to be put back.
    if (whenRemoved !== 'Restore' || (await readSysctl(host, key, signal)) === undefined) continue
    await setSysctl(host, key, prior, signal)
  }
  const before = await record.load()
  await record.save({
    ...before,
    units: before.units.filter(({ name }) => !units.some((unit) => unit.name === name)),
    sysctls: before.sysctls.filter(({ key }) => !sysctls.some((one) => one.key === key)),
  })
  await settlePending(site, anyUnit, signal)
}

export async function retireFiles(site: Site, files: readonly ManagedFile[], signal: AbortSignal): Promise<void> {
  if (files.length === 0) return
  const { host, record } = site
  const restored = files.filter(({ whenRemoved }) => whenRemoved === 'Restore')
  await record.save(withPending(await record.load(), restored))
  for (const { path, prior } of restored) await restoreFile(host, path, prior, signal)
  const before = await record.load()
  await record.save({ ...before, files: before.files.filter(({ path }) => !files.some((file) => file.path === path)) })
}
