// Where what lies in a bundle. Only such paths are packed and unpacked, so none can lead anywhere else.

export type BundlePart = 'deb' | 'rpm' | 'image' | 'binary'

interface Place {
  readonly part: BundlePart
  readonly folder: string
  /** How the names in it end. */
  readonly ending: string
}

export const bundlePlaces: readonly Place[] = [
  { part: 'binary', folder: 'binaries', ending: '' },
  { part: 'image', folder: 'images', ending: '.tar' },
  { part: 'deb', folder: 'packages/deb', ending: '.deb' },
  { part: 'rpm', folder: 'packages/rpm', ending: '.rpm' },
]

/** Letters, digits and what versions are written with; a name never begins with `.` or `-`. Tar has 100 bytes for it. */
const safeName = /^[A-Za-z0-9][A-Za-z0-9._+~^%:=@-]{0,99}$/

export function partOf(path: string): BundlePart | undefined {
  return placeOf(path)?.part
}

/** Why a bundle cannot hold a file of this path; undefined where it can. */
export function pathFault(path: string): string | undefined {
  const place = placeOf(path)
  if (!place) return `${shown(path)} lies in none of the folders ${bundlePlaces.map(({ folder }) => folder).join(', ')}`
  const name = path.slice(place.folder.length + 1)
  if (name.includes('/')) return `${shown(path)} lies too deep: ${place.folder} has no folders in it`
  if (!safeName.test(name)) {
    return `${shown(path)} has a name that is too long, or has other characters than letters, digits and ._+~^%:=@-`
  }
  return name.endsWith(place.ending)
    ? undefined
    : `${shown(path)} is in ${place.folder} and does not end in ${place.ending}`
}

function placeOf(path: string): Place | undefined {
  return bundlePlaces.find(({ folder }) => path.startsWith(`${folder}/`))
}

/** A path from outside, safe to print. */
function shown(path: string): string {
  return JSON.stringify(path.slice(0, 255)).slice(1, -1)
}
