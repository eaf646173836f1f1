// The live renderer: draws in place, at most a dozen times a second, and gives the terminal back as it found it.

import type { CancelTimer, Clock } from '../../ports/clock.ts'
import type { Terminal } from '../dependencies.ts'
import { cut } from '../table.ts'
import { clockText } from '../time-text.ts'
import { pictureLines } from './picture.ts'
import type { ProgressSink, RolloutSnapshot } from './sink.ts'
import { progressView } from './view.ts'

const controlSequence = '\u001b['
const hideCursor = `${controlSequence}?25l`
const showCursor = `${controlSequence}?25h`
const clearBelow = `${controlSequence}0J`
const frameMs = 80
const tickMs = 1000

export class LiveProgress implements ProgressSink {
  readonly #terminal: Terminal
  readonly #clock: Clock
  #snapshot: RolloutSnapshot | undefined
  /** When the snapshot was shown, so that elapsed times go on between two changes. */
  #shownAtMs = 0
  #drawnLines = 0
  #timer: CancelTimer | undefined
  #timerDueMs = Number.POSITIVE_INFINITY
  #lastFrameMs = Number.NEGATIVE_INFINITY

  constructor(terminal: Terminal, clock: Clock) {
    this.#terminal = terminal
    this.#clock = clock
  }

  show(snapshot: RolloutSnapshot): void {
    if (this.#snapshot === undefined) this.#terminal.write(hideCursor)
    this.#snapshot = snapshot
    this.#shownAtMs = this.#clock.monotonicMs()
    this.#drawAfter(Math.max(0, this.#lastFrameMs + frameMs - this.#shownAtMs))
  }

  note(now: Date, text: string): void {
    this.#erase()
    this.#terminal.write(`${cut(`${clockText(now)} ${text}`, Math.max(20, this.#terminal.columns))}\n`)
    if (this.#snapshot) this.#draw(this.#snapshot)
  }

  end(): void {
    this.#timer?.()
    this.#timer = undefined
    if (this.#snapshot === undefined) return
    this.#draw(this.#snapshot)
    this.#terminal.write(showCursor)
    this.#snapshot = undefined
    this.#drawnLines = 0
  }

  #drawAfter(delayMs: number): void {
    const due = this.#clock.monotonicMs() + delayMs
    if (this.#timer && this.#timerDueMs <= due) return
    this.#timer?.()
    this.#timerDueMs = due
    this.#timer = this.#clock.after(delayMs, () => {
      this.#timer = undefined
      this.#timerDueMs = Number.POSITIVE_INFINITY
      if (this.#snapshot) this.#draw(this.#aged(this.#snapshot))
      this.#drawAfter(tickMs)
    })
  }

  #aged(snapshot: RolloutSnapshot): RolloutSnapshot {
    const sinceMs = this.#clock.monotonicMs() - this.#shownAtMs
    return sinceMs < tickMs ? snapshot : { ...snapshot, now: new Date(snapshot.now.getTime() + sinceMs) }
  }

  #draw(snapshot: RolloutSnapshot): void {
    const { columns, rows, color } = this.#terminal
    const lines = pictureLines(progressView(snapshot), { columns, rows, color })
    this.#erase()
    this.#terminal.write(`${lines.join('\n')}\n`)
    this.#drawnLines = lines.length
    this.#lastFrameMs = this.#clock.monotonicMs()
  }

  #erase(): void {
    if (this.#drawnLines > 0) this.#terminal.write(`${controlSequence}${this.#drawnLines}A\r${clearBelow}`)
    this.#drawnLines = 0
  }
}
