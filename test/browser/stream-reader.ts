// A browser's stream without a browser.

import type { ConsoleChange, ConsoleState } from '../../src/api/console.ts'
import { applied } from '../../src/console/live/live-state.ts'
import type { ConsoleBed } from './console-server.ts'

export interface StreamReader {
  readonly state: ConsoleState
  readonly changes: readonly ConsoleChange[]
  /** Whether the server has hung up. */
  readonly ended: boolean
  close(): void
}

/** Resolves with the first state; kept in step as the page keeps it. */
export async function readStream({ port, token }: Pick<ConsoleBed, 'port' | 'token'>): Promise<StreamReader> {
  const gone = new AbortController()
  const response = await fetch(`http://127.0.0.1:${port}/api/stream?token=${token}`, { signal: gone.signal })
  if (!response.ok || !response.body) throw new Error(`the stream answered ${response.status}`)
  const kept: { state?: ConsoleState; ended: boolean } = { ended: false }
  const changes: ConsoleChange[] = []
  const began = Promise.withResolvers<void>()
  const take = (name: string, data: string) => {
    if (name === 'state') {
      kept.state = JSON.parse(data) as ConsoleState
      began.resolve()
    } else if (name === 'change' && kept.state) {
      const change = JSON.parse(data) as ConsoleChange
      changes.push(change)
      kept.state = applied(kept.state, change)
    } else if (name === 'ping' && kept.state) {
      kept.state = { ...kept.state, ...(JSON.parse(data) as Pick<ConsoleChange, 'at'>) }
    }
  }
  void read(response.body, take).finally(() => {
    kept.ended = true
    began.reject(new Error('the stream ended before its first event'))
  })
  await began.promise
  return {
    get state() {
      return kept.state as ConsoleState
    },
    get ended() {
      return kept.ended
    },
    changes,
    close: () => gone.abort(),
  }
}

async function read(body: ReadableStream<Uint8Array>, take: (name: string, data: string) => void): Promise<void> {
  const decoder = new TextDecoder()
  let text = ''
  try {
    for await (const piece of body) {
      text += decoder.decode(piece, { stream: true })
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        const [, name = '', data = ''] = /^event: (.*)\ndata: (.*)$/s.exec(text.slice(0, end)) ?? []
        text = text.slice(end + 2)
        take(name, data)
      }
    }
  } catch {
    // Hung up, by us or by the server.
  }
}
