// The format age v1 (age-encryption.org/v1): a header of text lines with the file's key hidden in it, then the content in sealed
// pieces. Any program of age opens what is written here.

import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'
import { type AgeKey, type Stanza, unpadded, unwrapFileKey, wrapFileKey } from './age-stanza.ts'
import { ByteSource } from './byte-source.ts'
import { ChunkBroken, openChunks, sealChunks } from './sealed-chunks.ts'
import { WrongKey } from './wrong-key.ts'

const version = 'age-encryption.org/v1'
const cipher = 'chacha20-poly1305'
const nonceBytes = 16
const columns = 64
const maxHeaderBytes = 64 * 1024

export async function* sealAge(content: AsyncIterable<Uint8Array>, key: AgeKey): AsyncGenerator<Uint8Array> {
  const fileKey = randomBytes(16)
  const header = `${version}\n${stanzaText(await wrapFileKey(fileKey, key))}---`
  const nonce = randomBytes(nonceBytes)
  yield Buffer.concat([Buffer.from(`${header} ${unpadded(macOf(fileKey, header))}\n`), nonce])
  yield* sealChunks(content, cipher, payloadKey(fileKey, nonce))
}

/** Throws WrongKey where the header is whole and none of it is for this key, ChunkBroken for what is not whole. */
export async function* openAge(content: AsyncIterable<Uint8Array>, key: AgeKey): AsyncGenerator<Uint8Array> {
  const source = new ByteSource(content)
  try {
    const { header, mac, stanzas } = await readHeader(source)
    const fileKey = await fileKeyOf(stanzas, key)
    const wanted = macOf(fileKey, header)
    if (mac.length !== wanted.length || !timingSafeEqual(mac, wanted)) throw new ChunkBroken('its header is changed')
    const nonce = Buffer.from(await source.take(nonceBytes))
    yield* openChunks(source, cipher, payloadKey(fileKey, nonce))
  } finally {
    await source.close()
  }
}

interface Header {
  /** What the sum is over. */
  readonly header: string
  readonly mac: Buffer
  readonly stanzas: readonly Stanza[]
}

async function readHeader(source: ByteSource): Promise<Header> {
  const next = async () => {
    const line = await source.line(maxHeaderBytes)
    if (line === undefined) throw new ChunkBroken('its header is cut off, or it is no file of age')
    return line.slice(0, -1)
  }
  if ((await next()) !== version) throw new ChunkBroken('it is no file of age')
  const stanzas: Stanza[] = []
  let header = `${version}\n`
  for (let line = await next(); ; line = await next()) {
    if (line.startsWith('--- ')) {
      return { header: `${header}---`, mac: Buffer.from(line.slice(4), 'base64'), stanzas }
    }
    if (!line.startsWith('-> ') || header.length > maxHeaderBytes) throw new ChunkBroken('its header is no header')
    header += `${line}\n`
    let body = ''
    for (let full = true; full; ) {
      const part = await next()
      header += `${part}\n`
      body += part
      full = part.length === columns
    }
    stanzas.push({ args: line.slice(3).split(' '), body: Buffer.from(body, 'base64') })
  }
}

async function fileKeyOf(stanzas: readonly Stanza[], key: AgeKey): Promise<Buffer> {
  for (const stanza of stanzas) {
    const fileKey = await unwrapFileKey(stanza, key)
    if (fileKey) return fileKey
  }
  throw new WrongKey(
    key.kind === 'recipient'
      ? 'a recipient (age1…) closes and never opens; give its identity (AGE-SECRET-KEY-1…)'
      : 'it was not encrypted to this key',
  )
}

function stanzaText({ args, body }: Stanza): string {
  const text = unpadded(body)
  const lines = text.match(/.{1,64}/g) ?? []
  // A line that is not full ends it: after full ones only, an empty one.
  const end = text.length % columns === 0 ? '\n' : ''
  return `-> ${args.join(' ')}\n${lines.map((line) => `${line}\n`).join('')}${end}`
}

function macOf(fileKey: Buffer, header: string): Buffer {
  const key = Buffer.from(hkdfSync('sha256', fileKey, Buffer.alloc(0), 'header', 32))
  return createHmac('sha256', key).update(header, 'latin1').digest()
}

function payloadKey(fileKey: Buffer, nonce: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', fileKey, nonce, 'payload', 32))
}
