import type { Log, LogFields } from '../../src/ports/log.ts'

export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly message: string
  readonly fields: LogFields
}

/** A log a test can read. */
export class RecordingLog implements Log {
  readonly lines: LogLine[]
  readonly #fields: LogFields

  constructor(lines: LogLine[] = [], fields: LogFields = {}) {
    this.lines = lines
    this.#fields = fields
  }

  debug(message: string, fields?: LogFields): void {
    this.#add('debug', message, fields)
  }

  info(message: string, fields?: LogFields): void {
    this.#add('info', message, fields)
  }

  warn(message: string, fields?: LogFields): void {
    this.#add('warn', message, fields)
  }

  error(message: string, fields?: LogFields): void {
    this.#add('error', message, fields)
  }

  with(fields: LogFields): Log {
    return new RecordingLog(this.lines, { ...this.#fields, ...fields })
  }

  messages(...levels: readonly LogLine['level'][]): string[] {
    return this.lines.filter((line) => levels.includes(line.level)).map((line) => line.message)
  }

  #add(level: LogLine['level'], message: string, fields: LogFields = {}): void {
    this.lines.push({ level, message, fields: { ...this.#fields, ...fields } })
  }
}
