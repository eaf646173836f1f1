// AES-256-GCM for those whose rules name it. A line that names the format, a salt of 32 bytes, a mark of the key of 16 bytes, then the
// content in pieces sealed with a key derived for this one file: no nonce is ever used twice, however many files a key closes.

import { hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'
import { ByteSource } from './byte-source.ts'
import { ChunkBroken, openChunks, sealChunks } from './sealed-chunks.ts'
import { WrongKey } from './wrong-key.ts'

const format = 'slipway-backup aes-256-gcm v1\n'
const cipher = 'aes-256-gcm'
const saltBytes = 32
const markBytes = 16

/** 32 bytes in base64; undefined for anything else. */
export function aesKeyOf(text: string): Buffer | undefined {
  const trimmed = text.trim()
  const key = Buffer.from(trimmed, 'base64')
  return key.length === 32 && key.toString('base64') === trimmed ? key : undefined
}

export async function* sealAes(content: AsyncIterable<Uint8Array>, key: Buffer): AsyncGenerator<Uint8Array> {
  const salt = randomBytes(saltBytes)
  yield Buffer.concat([Buffer.from(format), salt, markOf(key, salt)])
  yield* sealChunks(content, cipher, contentKey(key, salt))
}

/** Throws WrongKey by the key's mark, ChunkBroken for what is not whole. */
export async function* openAes(content: AsyncIterable<Uint8Array>, key: Buffer): AsyncGenerator<Uint8Array> {
  const source = new ByteSource(content)
  try {
    const header = Buffer.from(await source.take(format.length + saltBytes + markBytes))
    const salt = header.subarray(format.length, format.length + saltBytes)
    const mark = header.subarray(format.length + saltBytes)
    if (mark.length < markBytes || header.toString('latin1', 0, format.length) !== format) {
      throw new ChunkBroken('it is cut off, or no file of this format')
    }
    if (!timingSafeEqual(mark, markOf(key, salt))) throw new WrongKey('it was not encrypted with this key')
    yield* openChunks(source, cipher, contentKey(key, salt))
  } finally {
    await source.close()
  }
}

function contentKey(key: Buffer, salt: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', key, salt, 'slipway backup v1 content', 32))
}

/** Tells the key without helping to find it. */
function markOf(key: Buffer, salt: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', key, salt, 'slipway backup v1 mark', markBytes))
}
