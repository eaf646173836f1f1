// Which versions there are, by who says so. A source that says nothing of a minor version leaves it to the next one: a host with a
// repository for each minor version knows only the one it is at.

import type { VersionSource } from '../../api/version-path.ts'
import { parseVersion } from '../version.ts'

export interface Offer {
  readonly source: VersionSource
  /** By `1.36`; an empty list: it has none of that minor version, and the next source is not asked. */
  readonly byMinor: ReadonlyMap<string, readonly string[]>
}

export interface Offers {
  /** In the order in which they are asked. */
  readonly lists: readonly Offer[]
  /** Why others could not be asked, each as half a sentence. */
  readonly silent: readonly string[]
  /** Those of them that could not answer this time: asked again they may. */
  readonly failing?: readonly string[]
}

export const noOffers: Offers = { lists: [], silent: [] }

export interface Offered {
  readonly source: VersionSource
  readonly versions: readonly string[]
}

/** What is on offer of one minor version, by the first who speaks of it. */
export function offeredOf({ lists }: Offers, major: number, minor: number): Offered | undefined {
  for (const { source, byMinor } of lists) {
    const versions = byMinor.get(`${major}.${minor}`)
    if (versions) return { source, versions }
  }
  return undefined
}

/** A plain list, as a registry's tags or the lines of a ConfigMap; what is no version is passed over. */
export function offerOf(source: VersionSource, texts: Iterable<string>): Offer {
  const byMinor = new Map<string, string[]>()
  for (const text of texts) {
    const version = parseVersion(text.trim())
    if (!version) continue
    const known = byMinor.get(minorOf(version)) ?? []
    if (!known.includes(version.text)) byMinor.set(minorOf(version), [...known, version.text])
  }
  return { source, byMinor }
}

/** Of a minor version that some hosts speak of, what all of those can have; the others prove it when they stage. */
export function offerOfHosts(indexes: Iterable<readonly string[]>): Offer {
  const byMinor = new Map<string, readonly string[]>()
  for (const index of indexes) {
    for (const [minor, versions] of offerOf('Hosts', index).byMinor) {
      const shared = byMinor.get(minor)
      byMinor.set(minor, shared ? shared.filter((version) => versions.includes(version)) : versions)
    }
  }
  return { source: 'Hosts', byMinor }
}

const places: Readonly<Record<VersionSource, string>> = {
  Bundle: 'the bundle',
  Hosts: 'the hosts’ package index',
  Registry: 'the image registry',
  ConfigMap: 'ConfigMap slipway-versions',
}

/** For people: who was asked, and who could not be. */
export function askedText({ lists, silent }: Offers): string {
  const asked = lists.map(({ source }) => places[source])
  return [...(asked.length > 0 ? [`asked: ${asked.join(', ')}`] : []), ...silent].join('; ') || 'nobody was asked'
}

function minorOf({ major, minor }: { readonly major: number; readonly minor: number }): string {
  return `${major}.${minor}`
}
