import type { StagedPackages } from '../../api/staged-packages.ts'
import { installedVersions } from './match-version.ts'
import type { InstalledPackage } from './package-manager.ts'

/** The first thing that is not as it was staged, for people; undefined when all is. */
export function whatDiffers(
  { packages, removals }: StagedPackages,
  installed: ReadonlyMap<string, InstalledPackage>,
): string | undefined {
  for (const { name, version, held } of packages) {
    const here = installed.get(name)
    if (!here) return `${name} ${version} is not installed`
    if (!here.whole) return `${name} ${here.version} is half-installed`
    if (!installedVersions(here).includes(version)) return `${name} is at ${here.version}, not at ${version}`
    if (here.held !== held) return held ? `${name} is not held back` : `${name} is held back`
  }
  const still = removals.find(({ name, only, previous }) => {
    const here = installed.get(name)
    return only === undefined ? here !== undefined : installedVersions(here).includes(previous)
  })
  return still && `${still.only ?? still.name} is still installed`
}
