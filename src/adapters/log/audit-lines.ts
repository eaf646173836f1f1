import { openSync } from 'node:fs'
import { type DestinationStream, destination } from 'pino'
import { SlipwayError } from '../../api/slipway-error.ts'
import type { Audit } from '../../ports/audit.ts'

/**
 * The audit record as JSON lines, each with `"audit":true`: in a file of its own that is only ever appended to, or among the lines of the
 * log. Names of people and objects are values of JSON, so that none of them can make a line of its own.
 */
export function auditLines(path: string | undefined, stream?: DestinationStream): Audit {
  const target = stream ?? destination({ fd: path === undefined ? 2 : opened(path), sync: true })
  return { record: (entry) => void target.write(`${JSON.stringify(entry)}\n`) }
}

function opened(path: string): number {
  try {
    return openSync(path, 'a', 0o600)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new SlipwayError('Usage', `the audit record cannot be written: ${why}`, {
      nextStep: 'choose a file that can be written with --audit-log, or leave it out',
      cause,
    })
  }
}
