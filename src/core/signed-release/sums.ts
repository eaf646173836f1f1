// SHA256SUMS as sha256sum writes and reads it. There is one text for a set of files, and no other is taken: what is signed is
// exactly this.

export interface FileSum {
  readonly name: string
  readonly sha256: string
}

const line = /^([0-9a-f]{64}) {2}([A-Za-z0-9][A-Za-z0-9._+-]*)$/

export function sumsText(sums: readonly FileSum[]): string {
  return sums
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, sha256 }) => `${sha256}  ${name}\n`)
    .join('')
}

/** Undefined where the text is not one that `sumsText` writes. */
export function parseSums(text: string): readonly FileSum[] | undefined {
  const sums = text.split('\n').flatMap((each) => {
    const [, sha256 = '', name = ''] = line.exec(each) ?? []
    return name === '' ? [] : [{ name, sha256 }]
  })
  const isOnce = new Set(sums.map(({ name }) => name)).size === sums.length
  return sums.length > 0 && isOnce && sumsText(sums) === text ? sums : undefined
}
