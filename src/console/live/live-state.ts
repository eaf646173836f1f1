// What the server last told, kept in step by its events. The server gathers changes before it sends them.

import type { ConsoleChange, ConsoleState } from '../../api/console.ts'

export type Link = 'connecting' | 'live' | 'lost'

export interface Picture {
  readonly state: ConsoleState | undefined
  readonly link: Link
  /** When the link was lost; its data are as old as that. */
  readonly lostAt?: number
  /** How far the server's clock is ahead of the browser's: a simulated cluster has a time of its own. */
  readonly skewMs: number
}

export class LiveState {
  #picture: Picture = { state: undefined, link: 'connecting', skewMs: 0 }
  readonly #readers = new Set<() => void>()

  readonly look = (): Picture => this.#picture

  readonly subscribe = (reader: () => void): (() => void) => {
    this.#readers.add(reader)
    return () => this.#readers.delete(reader)
  }

  begin(state: ConsoleState, nowMs = Date.now()): void {
    this.#show({ state, link: 'live', skewMs: skew(state.at, nowMs) })
  }

  apply(change: ConsoleChange, nowMs = Date.now()): void {
    const { state } = this.#picture
    if (state) this.#show({ state: applied(state, change), link: 'live', skewMs: skew(change.at, nowMs) })
  }

  /** Nothing changed, but it is there. */
  hear(at: string, nowMs = Date.now()): void {
    const { state } = this.#picture
    if (state) this.#show({ state: { ...state, at }, link: 'live', skewMs: skew(at, nowMs) })
  }

  lose(nowMs: number): void {
    const { link, state, skewMs } = this.#picture
    if (link !== 'lost') this.#show({ state, link: 'lost', lostAt: nowMs + skewMs, skewMs })
  }

  #show(picture: Picture): void {
    this.#picture = picture
    for (const reader of this.#readers) reader()
  }
}

function skew(at: string, nowMs: number): number {
  const ahead = Date.parse(at) - nowMs
  return Number.isNaN(ahead) ? 0 : ahead
}

export function applied(state: ConsoleState, change: ConsoleChange): ConsoleState {
  const { nodes, updates, schedules, trouble, ...whole } = change
  const { trouble: before, ...rest } = state
  const now = trouble === undefined ? before : (trouble ?? undefined)
  return {
    ...rest,
    ...whole,
    ...(nodes && { nodes: merged(state.nodes, nodes) }),
    ...(updates && { updates: merged(state.updates, updates) }),
    ...(schedules && { schedules: merged(state.schedules, schedules) }),
    ...(now && { trouble: now }),
  }
}

function merged<T>(
  before: Readonly<Record<string, T>>,
  changes: Readonly<Record<string, T | null>>,
): Readonly<Record<string, T>> {
  const result: Record<string, T> = { ...before }
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) delete result[name]
    else result[name] = value
  }
  return result
}
