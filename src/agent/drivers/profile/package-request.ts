// Which packages have to change for a desired state, and what is remembered of those that do. Pure.

import type { DesiredPackage, DesiredState } from '../../../api/desired-state.ts'
import type { ManagedPackage, ProfileRecord } from '../../../api/profile-record.ts'
import type { StagedPackage, StagedPackages } from '../../../api/staged-packages.ts'
import { type Level, packageLevel } from '../../../core/profile/disturbance.ts'
import { fitsVersion, installedVersions, pickVersion } from '../../packages/match-version.ts'
import type { InstalledPackage, UnwantedPackage, WantedPackage } from '../../packages/package-manager.ts'

export type Installed = ReadonlyMap<string, InstalledPackage>

export interface PackageRequest {
  readonly wanted: readonly WantedPackage[]
  readonly unwanted: readonly UnwantedPackage[]
}

export function isNothing({ wanted, unwanted }: PackageRequest): boolean {
  return wanted.length + unwanted.length === 0
}

export function both(one: PackageRequest, other: PackageRequest): PackageRequest {
  return { wanted: [...one.wanted, ...other.wanted], unwanted: [...one.unwanted, ...other.unwanted] }
}

/** What is not as wanted, in words; undefined when all is. */
export function packageDifference(wanted: DesiredPackage, installed: Installed): string | undefined {
  const { name, state, version, hold } = wanted
  const here = installed.get(name)
  if (state === 'Absent') return here && `package ${name} ${here.version} is installed`
  if (!here) return `package ${name} is not installed`
  if (!here.whole) return `package ${name} ${here.version} is half-installed`
  if (version !== undefined && !installedVersions(here).some((each) => fitsVersion(each, version))) {
    return `package ${name} is at ${here.version}, not at ${version}`
  }
  if (hold !== undefined && here.held !== hold) return `package ${name} is ${hold ? 'not ' : ''}held back`
  return undefined
}

export function packageDifferences(
  { packages }: Pick<DesiredState, 'packages'>,
  installed: Installed,
): readonly { readonly item: string; readonly message: string; readonly level: Level }[] {
  return packages.flatMap((one) => {
    const message = packageDifference(one, installed)
    return message === undefined ? [] : [{ item: `package ${one.name}`, message, level: packageLevel(one) }]
  })
}

/** Brings the packages to the target; one that is as wanted is not asked for, so that it is not upgraded by the way. */
export function requestFor(target: DesiredState, installed: Installed): PackageRequest {
  const differing = target.packages.filter((one) => packageDifference(one, installed) !== undefined)
  return {
    wanted: differing
      .filter(({ state }) => state !== 'Absent')
      .map(({ name, version, hold }) => {
        const here = installed.get(name)
        const stays =
          here?.whole && (version === undefined ? here.version : pickVersion(installedVersions(here), version))
        const exact = stays || version
        return { name, ...(exact !== undefined && { version: exact }), ...(hold !== undefined && { hold }) }
      }),
    unwanted: differing.filter(({ state }) => state === 'Absent').map(({ name }) => ({ name, purge: false })),
  }
}

/** Managed packages that no profile wants any more. What came along as a dependency goes with the last of them. */
export function retiredPackages(record: ProfileRecord, target: DesiredState): readonly ManagedPackage[] {
  const names = new Set(target.packages.map(({ name }) => name))
  const anyLeft = record.packages.some(({ name, wanted }) => wanted && names.has(name))
  return record.packages.filter(({ name, wanted }) => !names.has(name) && (wanted || !anyLeft))
}

/** Puts them back to how they were found: away with what was added, the old version of what was changed. */
export function restoreRequest(retired: readonly ManagedPackage[], installed: Installed): PackageRequest {
  const restored = retired.filter(({ whenRemoved }) => whenRemoved === 'Restore')
  return {
    wanted: restored.flatMap(({ name, prior }) => {
      const here = installed.get(name)
      if (!prior || (here?.version === prior.version && here.held === prior.held)) return []
      return [{ name, version: prior.version, hold: prior.held }]
    }),
    unwanted: restored
      .filter(({ name, prior }) => prior === undefined && installed.has(name))
      .map(({ name }) => ({ name, purge: true })),
  }
}

/** The record with what a transaction is about to change; how a package was first found is kept. */
export function withPackages(
  record: ProfileRecord,
  { packages, removals }: StagedPackages,
  target: DesiredState,
  installed: Installed,
): ProfileRecord {
  const wanted = new Map(target.packages.map((one) => [one.name, one]))
  const known = new Set(record.packages.map(({ name }) => name))
  const fallback = target.packages.some(({ whenRemoved }) => whenRemoved === 'Keep') ? 'Keep' : 'Restore'
  const isTouched = (one: StagedPackage) =>
    installed.get(one.name)?.held !== one.held || (one.file !== undefined && (wanted.has(one.name) || isChanged(one)))
  const touched = [...packages.filter(isTouched), ...removals]
  const added = touched
    .filter(({ name }) => !known.has(name))
    .map(({ name }): ManagedPackage => {
      const here = installed.get(name)
      return {
        name,
        whenRemoved: wanted.get(name)?.whenRemoved ?? fallback,
        ...(here && { prior: { version: here.version, held: here.held } }),
        wanted: wanted.has(name),
      }
    })
  return added.length === 0 ? record : { ...record, packages: [...record.packages, ...added] }
}

/** What is installed again in its own version, as one that was left twice, is as it was found when the profile goes. */
function isChanged({ version, previous }: StagedPackage): boolean {
  return version !== previous
}
