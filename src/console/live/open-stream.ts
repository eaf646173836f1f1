// The stream of events, opened again for as long as the page is: a server that moved or restarted sends its whole state first.

import type { ConsoleChange, ConsoleState } from '../../api/console.ts'
import { address } from '../request.ts'
import type { LiveState } from './live-state.ts'

const retryMs = { first: 500, most: 10_000 } as const
/** The server sends something every 15 s. */
const silentMs = 40_000

/** Returns what tries again at once, without waiting for its turn. */
export function openStream(live: LiveState): () => void {
  let delayMs: number = retryMs.first
  let again: ReturnType<typeof setTimeout> | undefined
  const open = () => {
    clearTimeout(again)
    again = undefined
    const source = new EventSource(address('stream'))
    let silence = setTimeout(lose, silentMs)
    function heard(): void {
      clearTimeout(silence)
      silence = setTimeout(lose, silentMs)
      delayMs = retryMs.first
    }
    function lose(): void {
      clearTimeout(silence)
      source.close()
      live.lose(Date.now())
      again = setTimeout(open, delayMs)
      delayMs = Math.min(retryMs.most, delayMs * 2)
    }
    source.addEventListener('state', ({ data }) => {
      heard()
      live.begin(JSON.parse(data) as ConsoleState)
    })
    source.addEventListener('change', ({ data }) => {
      heard()
      live.apply(JSON.parse(data) as ConsoleChange)
    })
    source.addEventListener('ping', ({ data }) => {
      heard()
      live.hear((JSON.parse(data) as Pick<ConsoleChange, 'at'>).at)
    })
    source.addEventListener('error', lose)
  }
  open()
  return () => {
    if (again !== undefined) open()
  }
}
