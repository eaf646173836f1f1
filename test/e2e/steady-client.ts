import { setTimeout as wait } from 'node:timers/promises'

export interface SteadyClient {
  readonly answers: number
  readonly failures: readonly string[]
  stop(): Promise<void>
}

const everyMs = 100
const patienceMs = 3_000

/** Asks again and again, each time on a connection of its own, and counts what goes wrong. */
export function startSteadyClient(url: string): SteadyClient {
  const ending = new AbortController()
  const failures: string[] = []
  let answers = 0
  const ask = async () => {
    try {
      const answer = await fetch(url, {
        headers: { connection: 'close' },
        signal: AbortSignal.timeout(patienceMs),
      })
      await answer.text()
      if (answer.ok) answers++
      else failures.push(`${new Date().toISOString()} ${answer.status}`)
    } catch (error) {
      failures.push(`${new Date().toISOString()} ${String(error)}: ${String((error as Error).cause)}`)
    }
  }
  const running = (async () => {
    while (!ending.signal.aborted) {
      await ask()
      await wait(everyMs)
    }
  })()
  return {
    get answers() {
      return answers
    },
    failures,
    stop: async () => {
      ending.abort()
      await running
    },
  }
}
