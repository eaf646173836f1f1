// The little of an ELF file that decides where it runs: its machine, its loader and the libraries it names.

export interface ElfFile {
  readonly architecture: string
  /** The loader it asks for; libraries ask for none. */
  readonly interpreter: string | undefined
  readonly needed: readonly string[]
}

const machines: Readonly<Record<number, string>> = { 62: 'amd64', 183: 'arm64' }
const segment = { load: 1, dynamic: 2, interpreter: 3 }
const tag = { end: 0, needed: 1, strings: 5 }

interface Segment {
  readonly type: number
  readonly offset: number
  readonly address: number
  readonly bytes: number
}

/** Undefined where the content is no 64-bit little-endian ELF file. */
export function readElf(content: Buffer): ElfFile | undefined {
  const is64Little =
    content.length > 64 && content.readUInt32BE(0) === 0x7f454c46 && content[4] === 2 && content[5] === 1
  if (!is64Little) return undefined
  const machine = content.readUInt16LE(18)
  const segments = segmentsOf(content)
  const interpreter = segments.find(({ type }) => type === segment.interpreter)
  return {
    architecture: machines[machine] ?? `machine ${machine}`,
    interpreter: interpreter && text(content, interpreter.offset),
    needed: neededBy(content, segments),
  }
}

function segmentsOf(content: Buffer): readonly Segment[] {
  const start = number(content, 32)
  const [bytes, count] = [content.readUInt16LE(54), content.readUInt16LE(56)]
  return Array.from({ length: count }, (_, index) => {
    const at = start + index * bytes
    return {
      type: content.readUInt32LE(at),
      offset: number(content, at + 8),
      address: number(content, at + 16),
      bytes: number(content, at + 32),
    }
  })
}

function neededBy(content: Buffer, segments: readonly Segment[]): readonly string[] {
  const dynamic = segments.find(({ type }) => type === segment.dynamic)
  if (!dynamic) return []
  const names: number[] = []
  let strings = 0
  for (let at = dynamic.offset; at < dynamic.offset + dynamic.bytes; at += 16) {
    const kind = number(content, at)
    if (kind === tag.end) break
    if (kind === tag.needed) names.push(number(content, at + 8))
    if (kind === tag.strings) strings = offsetOf(number(content, at + 8), segments)
  }
  return names.map((name) => text(content, strings + name))
}

/** Where in the file that address of the running program comes from. */
function offsetOf(address: number, segments: readonly Segment[]): number {
  const holder = segments.find(
    (each) => each.type === segment.load && address >= each.address && address < each.address + each.bytes,
  )
  return holder === undefined ? address : address - holder.address + holder.offset
}

function number(content: Buffer, at: number): number {
  return Number(content.readBigUInt64LE(at))
}

function text(content: Buffer, at: number): string {
  return content.toString('latin1', at, content.indexOf(0, at))
}
