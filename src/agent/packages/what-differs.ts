import type { StagedPackages } from '../../api/staged-packages.ts'
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
    if (here.version !== version) return `${name} is at ${here.version}, not at ${version}`
    if (here.held !== held) return held ? `${name} is not held back` : `${name} is held back`
  }
  const still = removals.find(({ name }) => installed.has(name))
  return still && `${still.name} is still installed`
}
