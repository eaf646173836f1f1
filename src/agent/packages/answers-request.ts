import type { StagedPackages } from '../../api/staged-packages.ts'
import { fitsVersion } from './match-version.ts'
import type { StageRequest } from './package-manager.ts'

/** Whether what was staged brings all that is asked for now: on a host that others change, more may be asked for than before. */
export function answersRequest(
  { packages, removals }: Pick<StagedPackages, 'packages' | 'removals'>,
  { wanted, unwanted = [] }: Pick<StageRequest, 'wanted' | 'unwanted'>,
): boolean {
  const isBrought = wanted.every(({ name, version, hold }) => {
    const staged = packages.find((each) => each.name === name)
    if (!staged || (hold !== undefined && staged.held !== hold)) return false
    return version === undefined || fitsVersion(staged.version, version)
  })
  return isBrought && unwanted.every(({ name }) => removals.some((each) => each.name === name))
}
