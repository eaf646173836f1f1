// A snapshot as etcd's JSON gateway streams it; it may be broken in the ways a stream can be.

import { createHash } from 'node:crypto'
import type { SecureStreams, StreamedAnswer } from '../../src/ports/secure-requests.ts'

export function snapshotFile(content: Uint8Array): Buffer {
  return Buffer.concat([content, createHash('sha256').update(content).digest()])
}

/** The gateway's lines: the content in pieces, then its hash in one of its own. */
export function snapshotLines(content: Uint8Array, pieceBytes = 32 * 1024): string {
  const file = snapshotFile(content)
  const pieces: string[] = []
  for (let at = 0; at < content.length; at += pieceBytes) {
    const blob = Buffer.from(content.subarray(at, at + pieceBytes)).toString('base64')
    pieces.push(`{"result":{"remaining_bytes":"${content.length - at}","blob":"${blob}","version":"3.6.8"}}`)
  }
  pieces.push(`{"result":{"blob":"${file.subarray(-32).toString('base64')}","version":"3.6.8"}}`)
  return `${pieces.join('\n')}\n`
}

export class RecordedSnapshots implements SecureStreams {
  lines: string
  status = 200
  opened = 0
  /** Waited for after the first piece. */
  held: (signal: AbortSignal) => Promise<void> = () => Promise.resolve()
  /** Of what is sent at once. */
  pieceBytes = 1000

  constructor(content: Uint8Array) {
    this.lines = snapshotLines(content, 500)
  }

  open(_: unknown, signal: AbortSignal): Promise<StreamedAnswer> {
    this.opened += 1
    return Promise.resolve({ status: this.status, body: this.#body(signal) })
  }

  async *#body(signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const bytes = Buffer.from(this.lines)
    for (let at = 0; at < bytes.length; at += this.pieceBytes) {
      yield bytes.subarray(at, at + this.pieceBytes)
      await this.held(signal)
      signal.throwIfAborted()
    }
  }
}
