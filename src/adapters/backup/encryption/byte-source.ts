/** Bytes of a stream, taken in the amounts a format has. */
export class ByteSource {
  readonly #pieces: AsyncIterator<Uint8Array>
  #held: Buffer = Buffer.alloc(0)
  #isOver = false

  constructor(content: AsyncIterable<Uint8Array>) {
    this.#pieces = content[Symbol.asyncIterator]()
  }

  /** That many bytes, or what is left of fewer. */
  async take(bytes: number): Promise<Buffer> {
    if (this.#held.length < bytes) await this.#fill(bytes)
    const taken = this.#held.subarray(0, bytes)
    this.#held = this.#held.subarray(taken.length)
    return taken
  }

  /** Up to and with the next line feed; undefined where none comes within that many bytes. */
  async line(maxBytes: number): Promise<string | undefined> {
    for (let looked = 0; ; ) {
      const end = this.#held.indexOf(10, looked)
      if (end >= 0) return (await this.take(end + 1)).toString('latin1')
      looked = this.#held.length
      if (looked > maxBytes || this.#isOver) return undefined
      await this.#fill(looked + 1)
    }
  }

  async isAtEnd(): Promise<boolean> {
    if (this.#held.length === 0) await this.#fill(1)
    return this.#held.length === 0
  }

  /** Lets the source go, also where it was not read to its end. */
  async close(): Promise<void> {
    if (!this.#isOver) await this.#pieces.return?.()
  }

  async #fill(bytes: number): Promise<void> {
    const pieces: Uint8Array[] = [this.#held]
    let length = this.#held.length
    while (length < bytes && !this.#isOver) {
      const { done, value } = await this.#pieces.next()
      if (done) this.#isOver = true
      else {
        pieces.push(value)
        length += value.length
      }
    }
    this.#held = pieces.length === 1 ? this.#held : Buffer.concat(pieces, length)
  }
}
