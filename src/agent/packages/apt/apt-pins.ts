// Preferences of apt that say what an upgrade may take. Of two pins for a version apt goes by the one it reads first.

import type { DpkgStatus } from './dpkg-status.ts'

export interface AptPins {
  /** Read before the host's own, so they win. */
  readonly first: string
  /** Read after the host's own, so a person's pin wins. */
  readonly last: string
  /** Whether the host's APT::Default-Release counts: apt takes it for a pin before all others. */
  readonly ofDefaultRelease: boolean
}

export const hostPins: AptPins = { first: '', last: '', ofDefaultRelease: true }

/**
 * Only versions of a security archive are newer than what is installed; all others count less than the installed one, but can
 * still be had as new dependencies. Debian and Ubuntu name such archives `…-security`; what is installed counts as
 * from the archive `now`.
 */
export const securityPins = `Package: *
Pin: release a=now
Pin-Priority: 100

Package: *
Pin: release a=*-security
Pin-Priority: 990

Package: *
Pin: release a=*
Pin-Priority: 1

Package: *
Pin: origin "*"
Pin-Priority: 1
`

/** Packages that stay as they are: the installed version is the only candidate, and what is not there does not come. */
export function exceptionPins(names: readonly string[], status: DpkgStatus): string {
  return names
    .map((name) => {
      const here = status.get(name)
      const stays = here ? `Package: ${name}\nPin: version ${here.version}\nPin-Priority: 1001\n\n` : ''
      return `${stays}Package: ${name}\nPin: version *\nPin-Priority: -1\n\n`
    })
    .join('')
}
