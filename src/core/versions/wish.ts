// Which version a person asks for: one, or the newest of some. Pre-releases count only where they are named.

import semver from 'semver'
import { compareVersions, parseVersion, type Version } from '../version.ts'

export type Wish =
  | { readonly kind: 'exact'; readonly version: Version }
  /** `1.36.*`, `1.36.*+k3s1` */
  | { readonly kind: 'minor'; readonly major: number; readonly minor: number; readonly build: string | undefined }
  /** `1.37.0-rc.*`: begins with this. */
  | {
      readonly kind: 'pre-release'
      readonly major: number
      readonly minor: number
      readonly begins: string
      readonly build: string | undefined
    }
  | { readonly kind: 'latest-patch' }
  | { readonly kind: 'latest' }

/** Undefined for what is neither a version nor a pattern of some. */
export function parseWish(text: string): Wish | undefined {
  if (text === 'latest-patch' || text === 'latest') return { kind: text }
  const version = parseVersion(text)
  if (version) return { kind: 'exact', version }
  const [, major, minor, rest = '', build] = /^v?(\d+)\.(\d+)\.(\*|\d+-[0-9A-Za-z.-]+\.\*)(?:\+(.+))?$/.exec(text) ?? []
  if (major === undefined || minor === undefined) return undefined
  const of = { major: Number(major), minor: Number(minor), build }
  if (rest === '*') return { kind: 'minor', ...of }
  return { kind: 'pre-release', ...of, begins: `v${major}.${minor}.${rest.slice(0, -1)}` }
}

/** Whether the version must be looked for among those on offer. */
export function isPattern(text: string): boolean {
  const wish = parseWish(text)
  return wish !== undefined && wish.kind !== 'exact'
}

export function isPreRelease(version: string): boolean {
  return (semver.parse(version)?.prerelease.length ?? 0) > 0
}

/** `k3s` of `v1.36.3+k3s1`: what is built otherwise is another program. */
export function flavourOf(version: string): string {
  const build = semver.parse(version)?.build.join('.') ?? ''
  return build.replace(/[0-9.-]*$/, '')
}

/** The newest that fits; `fits` says so of each. */
export function newestOf(versions: readonly string[], fits: (version: string) => boolean): string | undefined {
  let newest: string | undefined
  for (const version of versions) {
    if (fits(version) && (newest === undefined || compareVersions(version, newest) > 0)) newest = version
  }
  return newest
}
