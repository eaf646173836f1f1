// A snapshot as etcd's JSON gateway streams it: the SHA-256 of all before is its last bytes.

import { createHash } from 'node:crypto'
import { brokenSnapshot, gatewayPieces } from './gateway-pieces.ts'

const hashBytes = 32

export interface SnapshotSums {
  readonly sha256: string
  readonly bytes: number
}

/** The snapshot as a file would hold it, checked when its end comes: one that is not whole ends with SnapshotBroken, before its last piece. A piece is good until the next one is asked for. */
export class SnapshotStream {
  readonly #pieces: AsyncIterable<Uint8Array>
  #sums: SnapshotSums | undefined

  constructor(body: AsyncIterable<Uint8Array>) {
    this.#pieces = gatewayPieces(body)
  }

  /** Once all of it was read. */
  get sums(): SnapshotSums {
    if (this.#sums) return this.#sums
    throw new Error('the snapshot has not been read to its end')
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    const hash = createHash('sha256')
    let bytes = 0
    // Always the last bytes: which they are is known at the end only.
    let held: Uint8Array = Buffer.alloc(0)
    for await (const piece of this.#pieces) {
      bytes += piece.length
      if (piece.length < hashBytes || held.length === 0) held = Buffer.concat([held, piece])
      else {
        hash.update(held)
        yield held
        held = piece
      }
    }
    const given = held.subarray(Math.max(0, held.length - hashBytes))
    hash.update(held.subarray(0, -hashBytes))
    const found = hash.copy().digest()
    if (given.length < hashBytes || !found.equals(given)) {
      throw brokenSnapshot(`its ${bytes} bytes do not have the hash that etcd put at their end`)
    }
    this.#sums = { sha256: hash.update(given).digest('hex'), bytes }
    yield held
  }
}
