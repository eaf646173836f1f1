// What of an update only the operator finds out, when the update starts: it has registries to ask, a plan has none.

import type { DirectUpdate, DirectUpdateSpec } from '../../api/direct-update.ts'
import type { VersionPath } from '../../api/version-path.ts'
import { parseImageReference } from '../image/reference.ts'
import type { Fault } from '../versions/find-path.ts'
import { parseWish } from '../versions/wish.ts'
import type { PlanRun } from './plan-report.ts'

export interface LaterView {
  readonly spec: DirectUpdateSpec
  /** What the version comes to by those who could be asked; absent: none of them knows. */
  readonly path: Pick<VersionPath, 'target' | 'source'> | undefined
  /** Why no path leads to the version by what they know. */
  readonly fault?: Fault | undefined
  /** Of this cluster: what the operator found for the same words before. */
  readonly updates: readonly DirectUpdate[]
}

/** In sentences. */
export function resolvedLater(view: LaterView): readonly string[] {
  return [...laterVersion(view), ...laterImage(view)]
}

/** Nobody but a registry may know the version, or those on the way to it: that nobody else does is no refusal yet. */
export function withOpenVersion(run: PlanRun, view: Pick<LaterView, 'spec' | 'path' | 'fault'>): PlanRun {
  const isOpen = (code: string) => {
    if (code === view.fault?.code) return isWayOpen(view)
    return code === 'VersionUnknown' && !view.path && isAskedElsewhere(view.spec)
  }
  const blockers = run.blockers.map((one) => (isOpen(one.code) ? { ...one, lasting: false } : one))
  return { ...run, blockers }
}

function laterVersion(view: LaterView): readonly string[] {
  const { spec, path, updates } = view
  const wish = spec.kubernetes?.version ?? ''
  if (!isAskedElsewhere(spec)) {
    if (!isWayOpen(view)) return []
    return [`which versions lie on the way to ${wish} is found out when the update starts: ${asked(spec)} then`]
  }
  const earlier = newestOf(updates, (update) =>
    update.spec.kubernetes?.version === wish ? update.status?.path && update.status.startedAt : undefined,
  )
  const before = earlier ? `; for DirectUpdate ${earlier.metadata.name} it was ${earlier.status?.path?.target}` : ''
  if (!path) return [`which version ${wish} is, is found out when the update starts: ${asked(spec)} then${before}`]
  // Whoever comes before the registry has spoken for good.
  if (wish !== 'latest' && path.source !== 'ConfigMap') return []
  return [`${wish} is ${path.target} by what is known here; when the update starts ${asked(spec)} too${before}`]
}

function isWayOpen({ spec, fault }: Pick<LaterView, 'spec' | 'fault'>): boolean {
  return fault?.unlisted === true && isReadLater(spec)
}

/** A version that is named need not be found. */
function isAskedElsewhere(spec: DirectUpdateSpec): boolean {
  const wish = spec.kubernetes && parseWish(spec.kubernetes.version)
  return wish !== undefined && wish.kind !== 'exact' && isReadLater(spec)
}

/** The operator asks registries, and reads the manifest of a bundle on a server; one on the hosts nobody can look into before. */
function isReadLater({ airGapped }: DirectUpdateSpec): boolean {
  return !airGapped?.bundle.url.startsWith('/')
}

function asked({ airGapped }: DirectUpdateSpec): string {
  return airGapped ? 'the bundle is read' : 'registries are asked'
}

function laterImage({ spec, updates }: LaterView): readonly string[] {
  const image = spec.os?.image
  if (image === undefined || parseImageReference(image)?.digest !== undefined) return []
  const found = newestOf(updates, ({ status }) =>
    status?.osImage?.image === image ? status.osImage.resolvedAt : undefined,
  )
  const { reference, digest, resolvedAt } = found?.status?.osImage ?? {}
  const before = found
    ? `; for DirectUpdate ${found.metadata.name} it was ${reference}, ${digest}, at ${resolvedAt}`
    : ''
  return [`which digest ${image} names is looked up in the registry when the update starts${before}`]
}

/** The one with the latest instant; those without one do not count. */
function newestOf(
  updates: readonly DirectUpdate[],
  instantOf: (update: DirectUpdate) => string | undefined,
): DirectUpdate | undefined {
  const dated = updates.flatMap((update) => {
    const instant = instantOf(update)
    return instant === undefined ? [] : [{ update, ms: Date.parse(instant) }]
  })
  return dated.toSorted((a, b) => b.ms - a.ms)[0]?.update
}
