// Which version on offer a wish means. The packager's suffix is never guessed: only what an index offers is chosen.

import type { InstalledPackage } from './package-manager.ts'

/** `5:24.0.7-1~debian.12` is 24.0.7 to those who wrote the program: no epoch, no revision of the packager. */
function upstreamOf(version: string): string {
  return withoutEpoch(version).replace(/-[^-]*$/, '')
}

function withoutEpoch(version: string): string {
  return version.replace(/^[0-9]+:/, '')
}

/** Whether a whole version of a package is one that was asked for; see WantedPackage.version. */
export function fitsVersion(offered: string, wanted: string): boolean {
  const forms = [offered, withoutEpoch(offered), upstreamOf(offered)]
  if (wanted.includes('*')) {
    const pattern = globPattern(wanted)
    return forms.some((form) => pattern.test(form))
  }
  const plain = wanted.replace(/^v(?=[0-9])/, '')
  // `1.7.24+ds1` is a repackaged 1.7.24; `1.36.0~rc.1` comes before 1.36.0 and is another version.
  return forms.includes(plain) || upstreamOf(offered).startsWith(`${plain}+`)
}

/** All of them, the newest first. */
export function installedVersions(here: InstalledPackage | undefined): readonly string[] {
  return here ? [here.version, ...(here.olderVersions ?? [])] : []
}

/** The first that fits: offers come with the newest first, in the package manager's own order. */
export function pickVersion(offers: readonly string[], wanted: string): string | undefined {
  return offers.find((offer) => offer === wanted) ?? offers.find((offer) => fitsVersion(offer, wanted))
}

export function globPattern(glob: string): RegExp {
  const parts = glob.split('*').map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`)
}
