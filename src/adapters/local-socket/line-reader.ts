import type { Socket } from 'node:net'

/** The lines of a socket; one longer than `maxBytes` is an error. */
export async function* linesOf(socket: Socket, maxBytes: number): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of socket) {
    const [first = '', ...more] = decoder.decode(chunk as Uint8Array, { stream: true }).split('\n')
    rest += first
    for (const next of more) {
      yield rest
      rest = next
    }
    if (rest.length > maxBytes) throw new RangeError(`a line has more than ${maxBytes} bytes`)
  }
  if (rest !== '') yield rest
}
