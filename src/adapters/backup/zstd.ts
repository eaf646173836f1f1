import type { Transform } from 'node:stream'
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib'

/** Each piece is a trip to another thread and back: few large ones. */
const pieceBytes = 256 * 1024
/** While one is compressed the next is made ready, and the last one is stored: each by a thread of its own. */
const aheadPieces = 2
/** Of what comes out. Smaller: one that takes long to fill grows old, and what is old is cleared away late. */
const outBytes = 32 * 1024
const buffers = {
  chunkSize: outBytes,
  writableHighWaterMark: aheadPieces * pieceBytes,
  readableHighWaterMark: aheadPieces * outBytes,
}

export function compressed(content: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  const params = { [constants.ZSTD_c_checksumFlag]: 1 }
  return through(content, createZstdCompress({ ...buffers, params }))
}

/** Throws for what is not whole. */
export function decompressed(content: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  return through(content, createZstdDecompress(buffers))
}

/** What the source throws is thrown here too; who stops reading stops the source. */
async function* through(content: AsyncIterable<Uint8Array>, transform: Transform): AsyncGenerator<Uint8Array> {
  const feeding = feed(content, transform)
  try {
    yield* transform as AsyncIterable<Uint8Array>
  } finally {
    transform.destroy()
    await feeding
  }
}

/**
 * Copies what comes into a few buffers of its own that go round: a source may use its pieces again, and memory stays what it is
 * however much passes. Never throws: what goes wrong is the transform's.
 */
async function feed(content: AsyncIterable<Uint8Array>, transform: Transform): Promise<void> {
  const free = Array.from({ length: aheadPieces + 1 }, () => Buffer.allocUnsafeSlow(pieceBytes))
  let wake: () => void = () => undefined
  transform.once('close', () => wake())
  const nextFree = async () => {
    while (free.length === 0 && !transform.destroyed) await new Promise<void>((resolve) => (wake = resolve))
    return free.pop() ?? Buffer.alloc(0)
  }
  const write = (buffer: Buffer<ArrayBuffer>, bytes: number) => {
    transform.write(buffer.subarray(0, bytes), () => {
      free.push(buffer)
      wake()
    })
  }
  try {
    let buffer = await nextFree()
    let filled = 0
    for await (const piece of content) {
      for (let at = 0; at < piece.length && !transform.destroyed; ) {
        if (filled === pieceBytes) {
          write(buffer, filled)
          buffer = await nextFree()
          filled = 0
        }
        const taken = piece.subarray(at, at + pieceBytes - filled)
        buffer.set(taken, filled)
        filled += taken.length
        at += taken.length
      }
      if (transform.destroyed) return
    }
    if (filled > 0) write(buffer, filled)
    transform.end()
  } catch (error) {
    transform.destroy(error instanceof Error ? error : new Error(String(error)))
  }
}
