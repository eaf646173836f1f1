// Kubernetes versions: `v1.36.3`, with or without the v, pre-releases (`-rc.1`) and builds (`+k3s1`) included.

import semver from 'semver'

export interface Version {
  readonly text: string
  readonly major: number
  readonly minor: number
  readonly patch: number
}

/** Parses a full version; undefined for anything else. `text` always carries the v. */
export function parseVersion(text: string): Version | undefined {
  const parsed = semver.parse(text)
  if (!parsed) return undefined
  const { major, minor, patch } = parsed
  return { text: text.startsWith('v') ? text : `v${text}`, major, minor, patch }
}

/**
 * Negative, zero or positive, as for sorting. A build suffix makes a difference, so that `+k3s9` can go to `+k3s10`. What is
 * no version at all counts as older than any.
 */
export function compareVersions(a: string, b: string): number {
  const left = semver.parse(a)
  const right = semver.parse(b)
  if (!left || !right) return Number(left !== null) - Number(right !== null)
  const order = semver.compare(left, right)
  const [build, other] = [left.build.join('.'), right.build.join('.')]
  // Seldom needed, and a comparison by locale costs far more than all of the rest.
  return order !== 0 || build === other ? order : Math.sign(build.localeCompare(other, 'en', { numeric: true }))
}

export function sameVersion(a: string, b: string): boolean {
  const left = parseVersion(a)
  const right = parseVersion(b)
  return left !== undefined && right !== undefined && left.text === right.text
}

/** How many minor versions lie between; negative when `to` is older. */
export function minorsBetween(from: Version, to: Version): number {
  return to.major === from.major ? to.minor - from.minor : (to.major - from.major) * 1000
}
