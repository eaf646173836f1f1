import type { Readable, Writable } from 'node:stream'

export interface Asking {
  readonly input: Readable
  readonly output: Writable
  /** Ctrl-C aborts it; aborted by others (SIGTERM) it ends the question. */
  readonly stop: AbortController
}

/** Whether a person answers yes. Rejects when stopped; an input that ends is no answer. */
export async function askPerson(question: string, { input, output, stop }: Asking): Promise<boolean> {
  const { createInterface } = await import('node:readline/promises')
  const terminal = createInterface({ input, output })
  // While it is asked the terminal hands over keys: Ctrl-C is one of them, and no signal.
  terminal.on('SIGINT', () => stop.abort())
  const ended = new Promise<string>((resolve) => terminal.once('close', () => resolve('')))
  try {
    const answer = await Promise.race([terminal.question(question, { signal: stop.signal }), ended])
    return answer.trim() === 'yes'
  } catch (error) {
    if (!stop.signal.aborted) return false
    output.write('stopped; nothing was changed\n')
    throw error
  } finally {
    terminal.close()
  }
}
