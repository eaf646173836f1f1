export type LogFields = Readonly<Record<string, unknown>>

/** A fixed message and fields; one line for a change of state. */
export interface Log {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
  with(fields: LogFields): Log
}
