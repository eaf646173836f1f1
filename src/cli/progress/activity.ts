// One line on standard error that says what takes so long and how far it is; on a terminal only, gone when it ends.

import type { CancelTimer } from '../../ports/clock.ts'
import type { CommandContext } from '../command-context.ts'
import { coloured } from '../paint.ts'
import { cut } from '../table.ts'
import { spanText } from '../time-text.ts'

const tickMs = 200
const barWidth = 24
const leastText = 10
const clearLine = '\r\u001b[2K'
const turning = ['|', '/', '-', '\\']

export interface Activity {
  /** What is being done, and where it can be counted, how much of how much. */
  at(what: string, done?: number, of?: number): void
}

type Place = Pick<CommandContext, 'err' | 'clock' | 'options'>

/** Does the work with a line below it; without a terminal, or with --quiet, in silence. */
export async function withActivity<T>(
  context: Place,
  what: string,
  work: (activity: Activity) => Promise<T>,
): Promise<T> {
  const { err, options } = context
  if (!err.isTTY || options.quiet) return work({ at: () => undefined })
  const line = new ActivityLine(context, what)
  try {
    return await work(line)
  } finally {
    line.end()
  }
}

/** On a terminal in the line of progress; otherwise each line once. */
export function tellerOf({ err, options }: Place, activity: Activity): (line: string) => void {
  let last = ''
  return (line) => {
    if (err.isTTY) activity.at(line)
    else if (line !== last && !options.quiet) err.write(`${line}\n`)
    last = line
  }
}

class ActivityLine implements Activity {
  readonly #context: Place
  readonly #startedMs: number
  #what: string
  #share: { readonly done: number; readonly of: number } | undefined
  #drawnMs = Number.NEGATIVE_INFINITY
  #timer: CancelTimer | undefined

  constructor(context: Place, what: string) {
    this.#context = context
    this.#what = what
    this.#startedMs = context.clock.monotonicMs()
    this.#tick()
  }

  at(what: string, done?: number, of?: number): void {
    this.#what = what
    this.#share = done === undefined || of === undefined ? undefined : { done, of }
    // Work that never waits lets no timer through: it is drawn from here, too.
    if (this.#context.clock.monotonicMs() - this.#drawnMs >= tickMs) this.#draw()
  }

  end(): void {
    this.#timer?.()
    this.#timer = undefined
    this.#context.err.write(clearLine)
  }

  #tick(): void {
    this.#draw()
    this.#timer = this.#context.clock.after(tickMs, () => this.#tick())
  }

  #draw(): void {
    const { err, clock } = this.#context
    this.#drawnMs = clock.monotonicMs()
    const tookMs = this.#drawnMs - this.#startedMs
    const head = this.#share ? barText(this.#share.done, this.#share.of) : signAt(tookMs)
    // Of a line that wraps only the last row could be cleared.
    const fits = cut(head, Math.max(1, err.columns - leastText - 2))
    const text = cut(`${this.#what}, ${spanText(tookMs)}`, Math.max(1, err.columns - fits.length - 2))
    err.write(`${clearLine}${coloured(fits, 'cyan', err.color)} ${text}`)
  }
}

function signAt(tookMs: number): string {
  return turning[Math.floor(tookMs / tickMs) % turning.length] ?? ''
}

export function barText(done: number, of: number): string {
  const ratio = of === 0 ? 0 : Math.min(1, Math.max(0, done / of))
  const full = Math.round(ratio * barWidth)
  return `[${'#'.repeat(full)}${'.'.repeat(barWidth - full)}] ${String(Math.floor(ratio * 100)).padStart(3)}%`
}
