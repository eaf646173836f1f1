export interface Part {
  readonly content: Uint8Array
  readonly isLast: boolean
}

/**
 * Cuts a stream into parts of one size. Two buffers take turns, so that one is sent while the next is filled and memory stays what it
 * is: a part is good until the second one after it is asked for.
 */
export async function* filledParts(content: AsyncIterable<Uint8Array>, partBytes: number): AsyncGenerator<Part> {
  const buffers = [Buffer.allocUnsafeSlow(partBytes), Buffer.allocUnsafeSlow(partBytes)] as const
  let turn: 0 | 1 = 0
  let filled = 0
  for await (const piece of content) {
    let at = 0
    while (at < piece.length) {
      // Full and more comes: only now it is known not to be the last.
      if (filled === partBytes) {
        yield { content: buffers[turn], isLast: false }
        turn = turn === 0 ? 1 : 0
        filled = 0
      }
      const taken = piece.subarray(at, at + partBytes - filled)
      buffers[turn].set(taken, filled)
      filled += taken.length
      at += taken.length
    }
  }
  yield { content: buffers[turn].subarray(0, filled), isLast: true }
}
