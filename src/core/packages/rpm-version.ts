// How rpm orders versions (its rpmvercmp): runs of digits as numbers, runs of letters as text, `~` before and `^` after the end.

/** Of `[epoch:]version-release`. */
export function compareRpmVersions(a: string, b: string): number {
  const [one, two] = [partsOf(a), partsOf(b)]
  return one.epoch - two.epoch || compareParts(one.version, two.version) || compareParts(one.release, two.release)
}

function partsOf(text: string): { readonly epoch: number; readonly version: string; readonly release: string } {
  const [, epoch = '0', version = '', release = ''] = /^(?:(\d+):)?([^-]*)(?:-(.*))?$/.exec(text) ?? []
  return { epoch: Number(epoch), version, release }
}

function compareParts(a: string, b: string): number {
  const [one, two] = [a, b].map((text) => text.match(/\d+|[A-Za-z]+|[~^]/g) ?? [])
  for (let at = 0; at < Math.max(one?.length ?? 0, two?.length ?? 0); at++) {
    const difference = compareSegments(one?.[at], two?.[at])
    if (difference !== 0) return difference
  }
  return 0
}

function compareSegments(a: string | undefined, b: string | undefined): number {
  if (a === b) return 0
  const ranked = rankOf(a) - rankOf(b)
  if (ranked !== 0 || a === undefined || b === undefined) return ranked
  if (/^\d/.test(a)) return Number(a) - Number(b)
  return a < b ? -1 : 1
}

function rankOf(segment: string | undefined): number {
  if (segment === '~') return 0
  if (segment === undefined) return 1
  if (segment === '^') return 2
  return /^\d/.test(segment) ? 4 : 3
}
