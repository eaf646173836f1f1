// A tar archive whose bytes follow from its entries alone: no times, no owners of this machine.

export type TarEntry =
  | { readonly path: string; readonly kind: 'file'; readonly mode: number; readonly content: Buffer }
  | { readonly path: string; readonly kind: 'folder'; readonly mode: number }

const blockBytes = 512
const longestName = 100

/** Sorted by path, each folder on the way made first. Paths are relative, without a slash at the end. */
export function tar(entries: readonly TarEntry[]): Buffer {
  const byPath = new Map(entries.map((entry) => [entry.path, entry]))
  for (const { path } of entries) {
    for (const folder of foldersAbove(path)) {
      if (!byPath.has(folder)) byPath.set(folder, { path: folder, kind: 'folder', mode: 0o755 })
    }
  }
  const sorted = [...byPath.values()].sort((a, b) => (a.path < b.path ? -1 : 1))
  return Buffer.concat([...sorted.flatMap(blocks), Buffer.alloc(2 * blockBytes)])
}

function foldersAbove(path: string): readonly string[] {
  const parts = path.split('/').slice(0, -1)
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'))
}

function blocks(entry: TarEntry): readonly Buffer[] {
  if (entry.kind === 'folder') return [header(`${entry.path}/`, entry.mode, 0, '5')]
  const { path, mode, content } = entry
  const padding = Buffer.alloc((blockBytes - (content.length % blockBytes)) % blockBytes)
  return [header(path, mode, content.length, '0'), content, padding]
}

/** POSIX ustar: text fields, numbers in octal, and a sum over the header with its own field as spaces. */
function header(name: string, mode: number, size: number, type: string): Buffer {
  if (Buffer.byteLength(name) > longestName) throw new RangeError(`${name} is too long for a name in an image`)
  const block = Buffer.alloc(blockBytes)
  const octal = (value: number, digits: number) => value.toString(8).padStart(digits, '0')
  block.write(name, 0)
  block.write(octal(mode, 7), 100)
  block.write(octal(0, 7), 108)
  block.write(octal(0, 7), 116)
  block.write(octal(size, 11), 124)
  block.write(octal(0, 11), 136)
  block.write(' '.repeat(8), 148)
  block.write(type, 156)
  block.write('ustar\u000000', 257)
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${octal(sum, 6)}\u0000 `, 148)
  return block
}
