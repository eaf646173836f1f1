// Which version a wish comes to on this cluster, by what is on offer.

import type { Reason } from '../../api/reason.ts'
import type { VersionSource } from '../../api/version-path.ts'
import { compareVersions, parseVersion, type Version } from '../version.ts'
import { askedText, type Offered, type Offers, offeredOf } from './offers.ts'
import { flavourOf, isPreRelease, newestOf, type Wish } from './wish.ts'

export interface TargetView {
  /** As it was written. */
  readonly text: string
  readonly wish: Wish
  readonly offers: Offers
  /** The newest API server of the cluster: what "the control plane runs" is said of. */
  readonly newestServer: Version
  /** Above this no kubelet may go, and the control plane stays as it is; absent: it goes along. */
  readonly ceiling: string | undefined
  /** How many minor versions up it may go at all. */
  readonly minorsAtMost: number
}

export type FoundTarget =
  | { readonly target: Version; readonly source: VersionSource | undefined }
  | { readonly reason: Reason }

export function findTarget(view: TargetView): FoundTarget {
  const { wish, offers, newestServer } = view
  switch (wish.kind) {
    case 'exact': {
      const { version } = wish
      const offered = offeredOf(offers, version.major, version.minor)
      return { target: version, source: offered?.versions.includes(version.text) ? offered.source : undefined }
    }
    case 'latest':
      return newestReachable(view)
    case 'latest-patch':
      return found(view, newestIn(view, newestServer.major, newestServer.minor))
    default:
      return found(view, newestIn(view, wish.major, wish.minor))
  }
}

interface Pick {
  readonly version: string
  readonly source: VersionSource
}

/** Minor by minor, as long as there is something to go through: what lies behind a gap cannot be reached. */
function newestReachable(view: TargetView): FoundTarget {
  const { major, minor } = view.newestServer
  let best = newestIn(view, major, minor)
  for (let up = 1; up <= view.minorsAtMost; up++) {
    const next = newestIn(view, major, minor + up)
    if (!next) {
      const reason = unanswered(view, minor + up)
      return reason ? { reason } : found(view, best)
    }
    if (isAbove(next.version, view.ceiling)) break
    best = next
  }
  return found(view, best)
}

/** Where the way ends cannot be told while one who may know more does not answer. */
function unanswered({ offers, newestServer: { major }, ceiling }: TargetView, minor: number): Reason | undefined {
  const { lists, failing = [] } = offers
  // A person's list is all there is to go to.
  if (failing.length === 0 || lists.some(({ source }) => source === 'ConfigMap')) return undefined
  if (offeredOf(offers, major, minor) || isAbove(`v${major}.${minor}.0`, ceiling)) return undefined
  const message = `whether there is a v${major}.${minor} cannot be told (${askedText(offers)})`
  return { code: 'VersionUnknown', message }
}

function newestIn(view: TargetView, major: number, minor: number): Pick | undefined {
  const offered = offeredOf(view.offers, major, minor)
  if (!offered) return undefined
  const below = pick(offered, (version) => isWanted(view, version) && !isAbove(version, view.ceiling))
  // Where all are too new the checks say so, in their own words.
  return below ?? pick(offered, (version) => isWanted(view, version))
}

function pick({ source, versions }: Offered, fits: (version: string) => boolean): Pick | undefined {
  const version = newestOf(versions, fits)
  return version === undefined ? undefined : { version, source }
}

function isWanted({ wish, newestServer }: TargetView, version: string): boolean {
  const build = 'build' in wish ? wish.build : undefined
  const isBuild =
    build === undefined ? flavourOf(version) === flavourOf(newestServer.text) : version.endsWith(`+${build}`)
  if (!isBuild) return false
  return wish.kind === 'pre-release' ? version.startsWith(wish.begins) : !isPreRelease(version)
}

function isAbove(version: string, ceiling: string | undefined): boolean {
  return ceiling !== undefined && compareVersions(version, ceiling) > 0
}

function found({ text, offers }: TargetView, picked: Pick | undefined): FoundTarget {
  const target = picked && parseVersion(picked.version)
  if (target) return { target, source: picked.source }
  return {
    reason: { code: 'VersionUnknown', message: `nothing that fits "${text}" is on offer (${askedText(offers)})` },
  }
}
