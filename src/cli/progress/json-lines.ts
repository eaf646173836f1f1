import type { Terminal } from '../dependencies.ts'
import { updateReport } from '../update-report.ts'
import type { ProgressSink, RolloutSnapshot } from './sink.ts'
import { progressView } from './view.ts'

/** One JSON document a line, for each change. */
export class JsonLinesProgress implements ProgressSink {
  readonly #terminal: Terminal
  #before = ''

  constructor(terminal: Terminal) {
    this.#terminal = terminal
  }

  show(snapshot: RolloutSnapshot): void {
    const line = JSON.stringify(updateReport(progressView(snapshot), snapshot.update))
    if (line !== this.#before) this.#terminal.write(`${line}\n`)
    this.#before = line
  }

  note(now: Date, text: string): void {
    this.#terminal.write(`${JSON.stringify({ at: now.toISOString(), note: text })}\n`)
  }

  end(): void {
    this.#before = ''
  }
}

/** Shows nothing: the answer comes at the end. */
export const silentProgress: ProgressSink = { show: () => undefined, note: () => undefined, end: () => undefined }
