// The browser saves pictures in haste. The same picture, with the same pixels, in fewer bytes.

import { crc32, deflateSync, inflateSync } from 'node:zlib'

const signatureBytes = 8
/** Screenshots are eight bits of red, green and blue. */
const pixelBytes = 3
const [lengthBytes, nameBytes, sumBytes] = [4, 4, 4]

export function pressed(png: Buffer): Buffer {
  const all = chunks(png)
  const data = Buffer.concat(all.filter(({ name }) => name === 'IDAT').map(({ body }) => body))
  const head = all.filter(({ name }) => name === 'IHDR')
  const lineBytes = (head[0]?.body.readUInt32BE(0) ?? 0) * pixelBytes
  const packed = {
    name: 'IDAT',
    body: deflateSync(unfiltered(inflateSync(data), lineBytes), { level: 9, memLevel: 9 }),
  }
  const written = [...head, packed, { name: 'IEND', body: Buffer.alloc(0) }].map(chunkBytes)
  return Buffer.concat([png.subarray(0, signatureBytes), ...written])
}

/** Filters help photographs. Flat colours and letters come again as they are, and pack by a quarter better without. */
function unfiltered(lines: Buffer, lineBytes: number): Buffer {
  for (let at = 0; at < lines.length; at += lineBytes + 1) {
    const filter = lines[at]
    lines[at] = 0
    for (let x = at + 1; x <= at + lineBytes; x++) {
      const [hasLeft, hasAbove] = [x - at > pixelBytes, at > 0]
      const left = hasLeft ? (lines[x - pixelBytes] ?? 0) : 0
      const above = hasAbove ? (lines[x - lineBytes - 1] ?? 0) : 0
      const corner = hasLeft && hasAbove ? (lines[x - lineBytes - 1 - pixelBytes] ?? 0) : 0
      lines[x] = ((lines[x] ?? 0) + guess(filter, left, above, corner)) & 0xff
    }
  }
  return lines
}

function guess(filter: number | undefined, left: number, above: number, corner: number): number {
  switch (filter) {
    case 1:
      return left
    case 2:
      return above
    case 3:
      return (left + above) >> 1
    case 4:
      return nearest(left + above - corner, left, above, corner)
    default:
      return 0
  }
}

/** Paeth's: where two are as near, the first of them. */
function nearest(to: number, left: number, above: number, corner: number): number {
  const [a, b, c] = [Math.abs(to - left), Math.abs(to - above), Math.abs(to - corner)]
  if (a <= b && a <= c) return left
  return b <= c ? above : corner
}

interface Chunk {
  readonly name: string
  readonly body: Buffer
}

function chunks(png: Buffer): readonly Chunk[] {
  const result: Chunk[] = []
  for (let at = signatureBytes; at < png.length; ) {
    const begins = at + lengthBytes + nameBytes
    const ends = begins + png.readUInt32BE(at)
    result.push({ name: png.toString('latin1', at + lengthBytes, begins), body: png.subarray(begins, ends) })
    at = ends + sumBytes
  }
  return result
}

function chunkBytes({ name, body }: Chunk): Buffer {
  const named = Buffer.concat([Buffer.from(name, 'latin1'), body])
  const [length, sum] = [Buffer.alloc(lengthBytes), Buffer.alloc(sumBytes)]
  length.writeUInt32BE(body.length)
  sum.writeUInt32BE(crc32(named))
  return Buffer.concat([length, named, sum])
}
