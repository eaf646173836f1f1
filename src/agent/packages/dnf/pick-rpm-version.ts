import { compareRpmVersions } from '../../../core/packages/rpm-version.ts'
import { pickVersion } from '../match-version.ts'

/**
 * The newest that fits, of what is on offer and what is installed; undefined where none does. dnf takes a whole version for a
 * wish and goes back to it, so what is installed and newer, as from a repository that is gone, has to count here.
 */
export function pickRpmVersion(
  offered: readonly string[],
  installed: readonly string[],
  wish: string | undefined,
): string | undefined {
  const known = [...new Set([...offered, ...installed])].sort((a, b) => compareRpmVersions(b, a))
  return wish === undefined ? known[0] : pickVersion(known, wish)
}
