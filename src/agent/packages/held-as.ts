import type { StagedPackage } from '../../api/staged-packages.ts'
import type { InstalledPackage } from './package-manager.ts'

/** How a package is to be left, and how it was found where that is otherwise. */
export function heldAs(
  here: Pick<InstalledPackage, 'held'> | undefined,
  hold: boolean | undefined,
): Pick<StagedPackage, 'held' | 'heldBefore'> {
  const found = here?.held ?? false
  const held = hold ?? found
  return { held, ...(here && held !== found && { heldBefore: found }) }
}
