const newline = 0x0a

/**
 * Cuts a stream of bytes into lines, decoded only when they are whole: a character may be split between two chunks, and a
 * big object may come in thousands of them.
 */
export class LineSplitter {
  #parts: Uint8Array[] = []

  /** Calls `onLine` for each line that this chunk completes; empty lines are left out. */
  push(chunk: Uint8Array, onLine: (line: string) => void): void {
    let start = 0
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      this.#parts.push(chunk.subarray(start, end))
      start = end + 1
      const line = this.#take()
      if (line !== '') onLine(line)
    }
    if (start < chunk.length) this.#parts.push(chunk.subarray(start))
  }

  /** Bytes of a line that has not ended. */
  get pending(): boolean {
    return this.#parts.length > 0
  }

  #take(): string {
    const [first] = this.#parts
    const bytes = this.#parts.length === 1 && first !== undefined ? first : Buffer.concat(this.#parts)
    this.#parts = []
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
  }
}
