import { createHash } from 'node:crypto'

/** Passes bytes on, and knows their sum afterwards. */
export class SummedBytes {
  readonly #content: AsyncIterable<Uint8Array>
  readonly #hash = createHash('sha256')
  #bytes = 0

  constructor(content: AsyncIterable<Uint8Array>) {
    this.#content = content
  }

  get bytes(): number {
    return this.#bytes
  }

  get sha256(): string {
    return this.#hash.copy().digest('hex')
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for await (const piece of this.#content) {
      this.#hash.update(piece)
      this.#bytes += piece.length
      yield piece
    }
  }
}

export async function sumOf(content: AsyncIterable<Uint8Array>): Promise<SummedBytes> {
  const summed = new SummedBytes(content)
  for await (const _ of summed);
  return summed
}
