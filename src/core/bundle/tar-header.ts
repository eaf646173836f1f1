// The 512 bytes before each file of a tar (POSIX ustar): what we write, always the same for the same file, and no more than
// that when reading. Folders, links and devices are not in a bundle.

export const blockBytes = 512

export interface TarFile {
  readonly path: string
  readonly bytes: number
}

export type TarHeader =
  | ({ readonly kind: 'file' } & TarFile)
  | { readonly kind: 'end' }
  | { readonly kind: 'refused'; readonly fault: string }

const field = {
  name: [0, 100],
  mode: [100, 8],
  owner: [108, 8],
  group: [116, 8],
  bytes: [124, 12],
  modified: [136, 12],
  sum: [148, 8],
  type: [156, 1],
  magic: [257, 8],
  prefix: [345, 155],
} as const

type Field = keyof typeof field

/** What eleven octal digits hold; larger sizes are written in binary, as GNU tar does. */
const mostOctal = 0o77777777777
const types: Readonly<Record<string, string>> = {
  '1': 'a hard link',
  '2': 'a link',
  '3': 'a device',
  '4': 'a device',
  '5': 'a folder',
  '6': 'a pipe',
}

export function tarHeader({ path, bytes }: TarFile): Uint8Array {
  const block = new Uint8Array(blockBytes)
  const split = path.length > field.name[1] ? path.lastIndexOf('/') : -1
  put(block, 'name', path.slice(split + 1))
  put(block, 'prefix', split < 0 ? '' : path.slice(0, split))
  put(block, 'mode', '0000644\0')
  put(block, 'owner', '0000000\0')
  put(block, 'group', '0000000\0')
  putBytes(block, bytes)
  put(block, 'modified', '00000000000\0')
  put(block, 'type', '0')
  put(block, 'magic', 'ustar\x0000')
  put(block, 'sum', `${checksum(block).toString(8).padStart(6, '0')}\0 `)
  return block
}

export function readTarHeader(block: Uint8Array): TarHeader {
  if (block.every((byte) => byte === 0)) return { kind: 'end' }
  if (Number.parseInt(text(block, 'sum'), 8) !== checksum(block)) {
    return { kind: 'refused', fault: 'it is not a tar, or damaged: a header has a wrong checksum' }
  }
  const prefix = text(block, 'prefix')
  const path = prefix === '' ? text(block, 'name') : `${prefix}/${text(block, 'name')}`
  const type = text(block, 'type')
  if (type !== '0' && type !== '') {
    const what = types[type] ?? 'an extension of another tar program'
    return { kind: 'refused', fault: `${JSON.stringify(path)} is ${what}, not a file` }
  }
  const bytes = sizeOf(block)
  if (bytes === undefined) return { kind: 'refused', fault: `${JSON.stringify(path)} has no valid size` }
  return { kind: 'file', path, bytes }
}

/** What follows a file of this size, up to the next block. */
export function paddingAfter(bytes: number): number {
  return (blockBytes - (bytes % blockBytes)) % blockBytes
}

function put(block: Uint8Array, name: Field, value: string): void {
  const [start, length] = field[name]
  const encoded = new TextEncoder().encode(value)
  if (encoded.length > length) throw new RangeError(`${value} is longer than the ${length} bytes tar has for it`)
  block.set(encoded, start)
}

function putBytes(block: Uint8Array, bytes: number): void {
  if (bytes <= mostOctal) {
    put(block, 'bytes', `${bytes.toString(8).padStart(11, '0')}\0`)
    return
  }
  const [start] = field.bytes
  block[start] = 0x80
  new DataView(block.buffer, block.byteOffset).setBigUint64(start + 4, BigInt(bytes))
}

function sizeOf(block: Uint8Array): number | undefined {
  const [start] = field.bytes
  if (block[start] === 0x80) {
    const large = new DataView(block.buffer, block.byteOffset).getBigUint64(start + 4)
    return large <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(large) : undefined
  }
  const octal = text(block, 'bytes').trim()
  return /^[0-7]{1,12}$/.test(octal) ? Number.parseInt(octal, 8) : undefined
}

/** Up to the first zero byte. */
function text(block: Uint8Array, name: Field): string {
  const [start, length] = field[name]
  const bytes = block.subarray(start, start + length)
  const end = bytes.indexOf(0)
  return new TextDecoder().decode(end < 0 ? bytes : bytes.subarray(0, end))
}

/** The sum of all bytes, those of the sum itself taken as blanks. */
function checksum(block: Uint8Array): number {
  const [start, length] = field.sum
  return block.reduce((sum, byte, at) => sum + (at >= start && at < start + length ? 0x20 : byte), 0)
}
