// What of a folder goes into a bundle, and what is wrong with the folder.

import { type BundleArchitecture, bundleArchitectures } from '../../api/bundle.ts'
import { bundlePlaces, partOf, pathFault } from './bundle-path.ts'

export interface FoundEntry {
  /** From the folder, with `/`. */
  readonly path: string
  readonly kind: 'file' | 'folder' | 'link' | 'other'
}

export type BundlePlan =
  | { readonly ok: true; readonly architecture: BundleArchitecture; readonly paths: readonly string[] }
  | { readonly ok: false; readonly faults: readonly string[] }

/** The words of Debian are ours; rpm has its own. */
const byRpm: Readonly<Record<string, BundleArchitecture>> = {
  x86_64: 'amd64',
  aarch64: 'arm64',
  ppc64le: 'ppc64le',
  s390x: 's390x',
  riscv64: 'riscv64',
}
const byDebian: Readonly<Record<string, BundleArchitecture>> = {
  ...Object.fromEntries(bundleArchitectures.map((name) => [name, name])),
  ppc64el: 'ppc64le',
}

/** `architecture` is needed only where no package tells it. */
export function planBundle(found: readonly FoundEntry[], architecture: BundleArchitecture | undefined): BundlePlan {
  const faults = found.flatMap(({ path, kind }) => entryFault(path, kind) ?? [])
  const paths = found.filter(({ kind }) => kind === 'file').map(({ path }) => path)
  if (faults.length === 0 && paths.length === 0) {
    faults.push(`there is nothing in it; it needs files in ${bundlePlaces.map(({ folder }) => folder).join(', ')}`)
  }
  const told = new Set(paths.flatMap((path) => architectureOf(path) ?? []))
  if (architecture !== undefined) told.add(architecture)
  if (told.size > 1) {
    faults.push(`it is for ${[...told].toSorted().join(' and ')}; make one bundle for each architecture`)
  }
  const [only] = told
  if (faults.length > 0) return { ok: false, faults }
  if (only === undefined) {
    return { ok: false, faults: ['no package in it tells for which architecture it is; name it with --architecture'] }
  }
  return { ok: true, architecture: only, paths: paths.toSorted(byCodeUnit) }
}

function entryFault(path: string, kind: FoundEntry['kind']): string | undefined {
  switch (kind) {
    case 'folder':
      return bundlePlaces.some(({ folder }) => folder === path || folder.startsWith(`${path}/`))
        ? undefined
        : `a bundle has no folder ${path}`
    case 'link':
      return `${path} is a link; put the file itself there`
    case 'other':
      return `${path} is not a file`
    case 'file':
      return pathFault(path)
  }
}

function architectureOf(path: string): BundleArchitecture | undefined {
  switch (partOf(path)) {
    case 'deb':
      return byDebian[/_([a-z0-9]+)\.deb$/.exec(path)?.[1] ?? '']
    case 'rpm':
      return byRpm[/\.([a-z0-9_]+)\.rpm$/.exec(path)?.[1] ?? '']
    default:
      return undefined
  }
}

function byCodeUnit(one: string, other: string): number {
  return one < other ? -1 : 1
}
