import { type DestinationStream, type Logger, pino } from 'pino'
import { KubeError } from '../../api/kube-error.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import type { Log, LogFields } from '../../ports/log.ts'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

export interface PinoLogOptions {
  readonly level: LogLevel
  /** `operator`, `agent`, … */
  readonly component: string
  /** Standard error unless told. */
  readonly destination?: DestinationStream
}

/** One JSON object a line; errors with their code and cause, unexpected ones with their stack. */
export function pinoLog(options: PinoLogOptions): Log {
  const settings = {
    level: options.level,
    base: { component: options.component },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { error: serialized },
  }
  return new PinoLog(pino(settings, options.destination ?? pino.destination({ fd: 2, sync: true })))
}

/** A failure of a kind we name says all in its code and message; where it was thrown helps nobody. */
function serialized(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { stack, ...told } = pino.stdSerializers.err(error)
  const expected = error instanceof KubeError || (error instanceof SlipwayError && error.code !== 'Internal')
  return expected ? told : { ...told, stack }
}

class PinoLog implements Log {
  readonly #logger: Logger

  constructor(logger: Logger) {
    this.#logger = logger
  }

  debug(message: string, fields: LogFields = {}): void {
    this.#logger.debug(fields, message)
  }

  info(message: string, fields: LogFields = {}): void {
    this.#logger.info(fields, message)
  }

  warn(message: string, fields: LogFields = {}): void {
    this.#logger.warn(fields, message)
  }

  error(message: string, fields: LogFields = {}): void {
    this.#logger.error(fields, message)
  }

  with(fields: LogFields): Log {
    return new PinoLog(this.#logger.child(fields))
  }
}
