import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { SlipwayError } from '../../api/slipway-error.ts'
import { blockBytes, paddingAfter, readTarHeader, type TarFile } from '../../core/bundle/tar-header.ts'

const chunkBytes = 1024 * 1024

/** One pass over a tar: each byte is read once, and all of them are hashed. */
export class TarReader {
  readonly #file: FileHandle
  readonly #path: string
  readonly #hash = createHash('sha256')
  readonly #chunk = Buffer.alloc(chunkBytes)
  #bytes = 0

  constructor(file: FileHandle, path: string) {
    this.#file = file
    this.#path = path
  }

  /** The next file, whose body is read next; undefined at the end. */
  async next(): Promise<TarFile | undefined> {
    const header = readTarHeader(await this.#exactly(blockBytes))
    switch (header.kind) {
      case 'refused':
        throw broken(this.#path, header.fault)
      case 'file':
        return header
      case 'end':
        await this.#readEnd()
        return undefined
    }
  }

  /** The bytes of the file that `next` told; each chunk is valid until the next one. */
  async *body({ bytes }: TarFile, signal: AbortSignal): AsyncGenerator<Buffer> {
    for (let left = bytes; left > 0; ) {
      signal.throwIfAborted()
      const chunk = await this.#exactly(Math.min(left, chunkBytes))
      left -= chunk.length
      yield chunk
    }
    await this.#exactly(paddingAfter(bytes))
  }

  /** After the end: of all there was. */
  whole(): { readonly sha256: string; readonly bytes: number } {
    return { sha256: this.#hash.digest('hex'), bytes: this.#bytes }
  }

  /** Another empty block, and nothing but emptiness after it. */
  async #readEnd(): Promise<void> {
    for (let chunk = await this.#exactly(blockBytes); chunk.length > 0; chunk = await this.#upTo(chunkBytes)) {
      if (chunk.some((byte) => byte !== 0)) throw broken(this.#path, 'something follows its end')
    }
  }

  async #exactly(bytes: number): Promise<Buffer> {
    const chunk = await this.#upTo(bytes)
    if (chunk.length < bytes) throw broken(this.#path, `it is cut off after ${this.#bytes} bytes`)
    return chunk
  }

  async #upTo(bytes: number): Promise<Buffer> {
    let filled = 0
    while (filled < bytes) {
      const { bytesRead } = await this.#file.read(this.#chunk, filled, bytes - filled, null)
      if (bytesRead === 0) break
      filled += bytesRead
    }
    const chunk = this.#chunk.subarray(0, filled)
    this.#hash.update(chunk)
    this.#bytes += filled
    return chunk
  }
}

export function broken(path: string, fault: string): SlipwayError {
  return new SlipwayError('BundleBroken', `the bundle ${path} is no good: ${fault}`, {
    nextStep: 'copy it again, or make it anew with slipway bundle create FOLDER -o FILE',
  })
}
