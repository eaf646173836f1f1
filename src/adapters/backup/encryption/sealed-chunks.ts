// A long text sealed in pieces of 64 KiB, each with its number and whether it is the last in its nonce (the STREAM construction, as
// age has it): none can be changed, left out, put elsewhere or cut off unseen.

import { createCipheriv, createDecipheriv } from 'node:crypto'
import type { ByteSource } from './byte-source.ts'

export type ChunkCipher = 'chacha20-poly1305' | 'aes-256-gcm'

const chunkBytes = 64 * 1024
const tagBytes = 16
const options = { authTagLength: tagBytes }

export class ChunkBroken extends Error {}

/** What it gives is good until the next is asked for: one buffer serves for all. */
export async function* sealChunks(
  content: AsyncIterable<Uint8Array>,
  cipher: ChunkCipher,
  key: Uint8Array,
): AsyncGenerator<Uint8Array> {
  const chunk = Buffer.allocUnsafeSlow(chunkBytes)
  const out = Buffer.allocUnsafeSlow(chunkBytes + tagBytes)
  const seal = (bytes: number, nonce: Buffer) => {
    const sealing = createCipheriv(cipher as 'aes-256-gcm', key, nonce, options)
    out.set(sealing.update(chunk.subarray(0, bytes)))
    sealing.final()
    out.set(sealing.getAuthTag(), bytes)
    return out.subarray(0, bytes + tagBytes)
  }
  let filled = 0
  let number = 0
  for await (const piece of content) {
    for (let at = 0; at < piece.length; ) {
      // Full and more comes: only now it is known not to be the last.
      if (filled === chunkBytes) {
        yield seal(filled, nonceOf(number++, false))
        filled = 0
      }
      const taken = piece.subarray(at, at + chunkBytes - filled)
      chunk.set(taken, filled)
      filled += taken.length
      at += taken.length
    }
  }
  yield seal(filled, nonceOf(number, true))
}

/** Throws ChunkBroken at the first piece that is not as it was sealed, or is missing. */
export async function* openChunks(
  source: ByteSource,
  cipher: ChunkCipher,
  key: Uint8Array,
): AsyncGenerator<Uint8Array> {
  for (let number = 0; ; number++) {
    const sealed = await source.take(chunkBytes + tagBytes)
    const isLast = await source.isAtEnd()
    const chunk = openChunk(sealed, cipher, key, nonceOf(number, isLast))
    // A last piece is empty only where all is.
    if (chunk.length === 0 && number > 0) throw new ChunkBroken('its last piece is empty')
    yield chunk
    if (isLast) return
  }
}

function openChunk(sealed: Buffer, cipher: ChunkCipher, key: Uint8Array, nonce: Buffer): Buffer {
  if (sealed.length < tagBytes) throw new ChunkBroken('it is cut off')
  const opening = createDecipheriv(cipher as 'aes-256-gcm', key, nonce, options).setAuthTag(sealed.subarray(-tagBytes))
  try {
    return Buffer.concat([opening.update(sealed.subarray(0, -tagBytes)), opening.final()])
  } catch (cause) {
    throw new ChunkBroken('a piece of it is changed, missing or out of its place', { cause })
  }
}

/** Eleven bytes of the number, the highest first, and one for the last. */
function nonceOf(number: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12)
  nonce.writeUIntBE(number, 5, 6)
  nonce[11] = isLast ? 1 : 0
  return nonce
}
