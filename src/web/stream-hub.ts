// All who watch. What is new is put into bytes once, however many they are; whoever does not keep up is hung up on, and comes
// back for the whole state: nothing is replayed, and nobody's slowness fills our memory.

import type { Clock } from '../ports/clock.ts'
import type { HttpStream } from '../ports/http-server.ts'

/** More than the whole state of 5,000 nodes. */
const mostWaitingBytes = 8 * 1024 * 1024
const pingMs = 15_000

export class StreamHub {
  readonly #clock: Clock
  readonly #streams = new Set<HttpStream>()
  readonly #encoder = new TextEncoder()
  #serialised = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get open(): number {
    return this.#streams.size
  }

  /** How many texts were made so far. */
  get serialised(): number {
    return this.#serialised
  }

  /** The first event is the whole state; `state` is made anew only after a change. */
  add(stream: HttpStream, state: Uint8Array, signal: AbortSignal): void {
    this.#streams.add(stream)
    stream.write(state)
    signal.addEventListener('abort', () => this.#streams.delete(stream), { once: true })
    if (signal.aborted) this.#streams.delete(stream)
  }

  event(name: 'state' | 'change' | 'ping', value: unknown): Uint8Array {
    this.#serialised++
    return this.#encoder.encode(`event: ${name}\ndata: ${JSON.stringify(value)}\n\n`)
  }

  tell(bytes: Uint8Array): void {
    for (const stream of this.#streams) {
      if (stream.waitingBytes + bytes.length > mostWaitingBytes) {
        this.#streams.delete(stream)
        stream.close()
      } else stream.write(bytes)
    }
  }

  /** In quiet times everybody hears something: what time it is in the cluster. */
  ping(now: () => Date, signal: AbortSignal): void {
    const again = () => {
      cancel = this.#clock.after(pingMs, again)
      if (this.#streams.size > 0) this.tell(this.event('ping', { at: now().toISOString() }))
    }
    let cancel = this.#clock.after(pingMs, again)
    signal.addEventListener('abort', () => cancel(), { once: true })
  }

  close(): void {
    for (const stream of this.#streams) stream.close()
    this.#streams.clear()
  }
}
