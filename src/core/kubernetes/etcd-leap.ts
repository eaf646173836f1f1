// Which packages of etcd must not be installed over which: a member cannot go back once its data is of the newer version.

import type { Reason } from '../../api/reason.ts'
import type { StagedPackages } from '../../api/staged-packages.ts'
import { compareVersions } from '../version.ts'
import { etcdMinorsBetween } from './etcd-settings.ts'

/** The first version whose members do not come back as ones long removed when etcd 3.6 follows it. */
export const leastBefore36 = {
  version: '3.5.26',
  source: 'https://etcd.io/blog/2025/zombie_members_upgrade/',
} as const

export function etcdLeap(packages: StagedPackages['packages']): Reason | undefined {
  for (const { wanted, name, previous, version } of packages) {
    if (!wanted || previous === undefined) continue
    if ((etcdMinorsBetween(previous, version) ?? 2) > 1) {
      const message = `etcd is upgraded one minor version at a time: ${name} ${previous} cannot become ${version} at once`
      return { code: 'VersionSkipsMinor', message }
    }
    // A client has no data.
    if (name === 'etcd-client') continue
    if (isOlder(previous, leastBefore36.version) && !isOlder(version, '3.6.0')) {
      const first = `${name} ${previous} must become ${leastBefore36.version} or a later 3.5 before ${version}`
      const message = `${first}, or members removed long ago come back (${leastBefore36.source}); install that, or pin it and try again`
      return { code: 'VersionSkipsMinor', message }
    }
  }
  return undefined
}

/** By the numbers alone: packagers put an epoch before them and what they like behind. */
function isOlder(version: string, than: string): boolean {
  const [, minor = '0.0', patch = '0'] = /^(?:\d+:)?(\d+\.\d+)(?:\.(\d+))?/.exec(version) ?? []
  return compareVersions(`${minor}.${patch}`, than) < 0
}
