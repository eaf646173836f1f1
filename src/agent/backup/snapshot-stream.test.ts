import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { snapshotFile, snapshotLines } from '../../../test/agent/recorded-snapshot.ts'
import { SeededRandom } from '../../sim/seeded-random.ts'
import { SnapshotStream } from './snapshot-stream.ts'

const random = new SeededRandom(11)
const content = Buffer.from(Array.from({ length: 100_000 }, () => Math.floor(random.next() * 256)))

async function* cut(text: string, bytes: () => number): AsyncGenerator<Uint8Array> {
  const all = Buffer.from(text)
  for (let at = 0; at < all.length; ) {
    const piece = all.subarray(at, at + Math.max(1, bytes()))
    at += piece.length
    yield piece
  }
}
async function read(stream: SnapshotStream): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  for await (const piece of stream) pieces.push(Buffer.from(piece))
  return Buffer.concat(pieces)
}

describe('a snapshot over the JSON gateway', () => {
  it.each([1, 7, 31, 32, 33, 500, 32_768])(
    'is put together from pieces of %i bytes, wherever it is cut',
    async (size) => {
      const part = content.subarray(0, size < 32 ? 2_000 : content.length)
      const stream = new SnapshotStream(cut(snapshotLines(part, size), () => 1 + Math.floor(random.next() * 5_000)))
      const found = await read(stream)
      expect(found.equals(snapshotFile(part))).toBe(true)
      expect(stream.sums).toEqual({ bytes: found.length, sha256: createHash('sha256').update(found).digest('hex') })
    },
  )

  const lines = snapshotLines(content, 10_000)
  const error = '{"error":{"code":13,"message":"etcdserver: mvcc: database closed"}}\n'
  it.each([
    { name: 'cut off between two lines', text: lines.slice(0, lines.indexOf('\n', 50_000) + 1), says: 'hash' },
    { name: 'cut off within a line', text: lines.slice(0, 50_000), says: 'within a line' },
    { name: 'without its hash', text: lines.slice(0, lines.lastIndexOf('\n', lines.length - 2) + 1), says: 'hash' },
    { name: 'with a piece missing', text: lines.slice(lines.indexOf('\n') + 1), says: 'hash' },
    { name: 'that etcd breaks off', text: lines.slice(0, lines.indexOf('\n') + 1) + error, says: 'database closed' },
    { name: 'that is none', text: '<html>\n', says: 'unexpected' },
    { name: 'that is empty', text: '', says: 'hash' },
  ])('$name is not whole', async ({ text, says }) => {
    const stream = new SnapshotStream(cut(text, () => 3_000))
    await expect(read(stream)).rejects.toMatchObject({
      code: 'SnapshotBroken',
      message: expect.stringContaining(says),
    })
    expect(() => stream.sums).toThrow('not been read')
  })
})
