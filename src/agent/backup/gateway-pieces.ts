// The bytes in the lines of etcd's JSON gateway: {"result":{…,"blob":"base64"}}. A gigabyte goes through here on a host that has other
// things to do, so no line is ever put together: base64 is read where it lies, wherever the stream was cut.

import { gatewaySnapshotSchema } from '../../api/etcd-gateway.ts'
import { SlipwayError } from '../../api/slipway-error.ts'

/** Few large pieces: each costs a turn everywhere it passes. */
const pieceBytes = 256 * 1024
const mark = '"blob":"'
const quote = 34
/** What a line has besides its blob is a hundred letters. */
const maxLetters = 64 * 1024
const stride = 256

/** Two buffers take turns, so that memory stays what it is: a piece is good until the second one after it is asked for. */
export async function* gatewayPieces(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = new LineReader()
  for await (const piece of body) yield* reader.read(Buffer.from(piece.buffer, piece.byteOffset, piece.length))
  yield* reader.end()
}

export function brokenSnapshot(what: string): SlipwayError {
  return new SlipwayError('SnapshotBroken', `the snapshot of etcd is not whole: ${what}`, {
    nextStep: 'look at the log of etcd and at its disk',
  })
}

class LineReader {
  #piece = Buffer.allocUnsafeSlow(pieceBytes)
  #other = Buffer.allocUnsafeSlow(pieceBytes)
  #filled = 0
  /** The line so far without what is in its blob: JSON by itself. */
  #line = ''
  /** Where in it a blob may begin. */
  #searched = 0
  #isInBlob = false
  /** Letters of base64 that are no whole four yet. */
  #letters = ''

  /** Up to the next blob, or the end of the line; returns where it stopped. */
  #readLine(bytes: Buffer, at: number): number {
    const before = this.#line.length
    const line = this.#line + bytes.toString('latin1', at, at + stride)
    const blobAt = line.indexOf(mark, this.#searched)
    const endAt = line.indexOf('\n', before)
    if (blobAt >= 0 && (endAt < 0 || blobAt < endAt)) {
      this.#searched = blobAt + mark.length
      this.#line = line.slice(0, this.#searched)
      this.#isInBlob = true
      return at + this.#searched - before
    }
    if (endAt >= 0) {
      judge(line.slice(0, endAt))
      this.#line = ''
      this.#searched = 0
      return at + endAt + 1 - before
    }
    if (line.length > maxLetters) throw brokenSnapshot('etcd sends a line without an end')
    this.#line = line
    return Math.min(bytes.length, at + stride)
  }

  *read(bytes: Buffer): Generator<Uint8Array> {
    for (let at = 0; at < bytes.length; ) {
      if (!this.#isInBlob) at = this.#readLine(bytes, at)
      else {
        const quoteAt = bytes.indexOf(quote, at)
        const end = quoteAt < 0 ? bytes.length : quoteAt
        yield* this.#decode(this.#letters + bytes.toString('latin1', at, end), quoteAt >= 0)
        // The quote is read again, as the rest of the line.
        at = end
        this.#isInBlob = quoteAt < 0
      }
    }
  }

  *end(): Generator<Uint8Array> {
    if (this.#isInBlob) throw brokenSnapshot('it breaks off within a line')
    if (this.#line !== '') judge(this.#line)
    if (this.#filled > 0) yield this.#piece.subarray(0, this.#filled)
  }

  *#decode(letters: string, isLast: boolean): Generator<Uint8Array> {
    const whole = isLast ? letters.length : letters.length - (letters.length % 4)
    for (let at = 0; at < whole; at += pieceBytes) {
      const some = letters.slice(at, Math.min(whole, at + pieceBytes))
      if (this.#filled + some.length > pieceBytes) {
        yield this.#piece.subarray(0, this.#filled)
        const given = this.#piece
        this.#piece = this.#other
        this.#other = given
        this.#filled = 0
      }
      this.#filled += this.#piece.write(some, this.#filled, 'base64')
    }
    this.#letters = letters.slice(whole)
  }
}

function judge(line: string): void {
  const parsed = gatewaySnapshotSchema.safeParse(jsonOf(line))
  if (!parsed.success) throw brokenSnapshot(`etcd sends something unexpected: ${line.slice(0, 100)}`)
  if ('error' in parsed.data) throw brokenSnapshot(`etcd breaks it off: ${parsed.data.error.message.slice(0, 300)}`)
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
