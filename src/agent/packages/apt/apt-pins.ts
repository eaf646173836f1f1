// Preferences of apt that say what an upgrade may take. A host's own pins come first and win.

import type { DpkgStatus } from './dpkg-status.ts'

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
      return here
        ? `Package: ${name}\nPin: version ${here.version}\nPin-Priority: 1001\n\n`
        : `Package: ${name}\nPin: version *\nPin-Priority: -1\n\n`
    })
    .join('')
}
