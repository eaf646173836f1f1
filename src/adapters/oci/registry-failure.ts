// How a registry's "no" is told: what may pass and what will not, by address, never with what was sent along.

import type { IncomingHttpHeaders } from 'node:http'
import { z } from 'zod'
import { SlipwayError } from '../../api/slipway-error.ts'
import { jsonOf } from '../../core/json-text.ts'

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

const longestWaitMs = 60 * 60_000

const errorsSchema = z.object({ errors: z.array(z.object({ code: z.string() })).min(1) })

export function cannotReach(
  url: URL,
  what: string,
  detail: { readonly cause?: unknown; readonly retryAfterMs?: number | undefined } = {},
): SlipwayError {
  return new SlipwayError('CannotReach', `${placeOf(url)} ${what}`, {
    nextStep: 'look at the registry and the way to it; it is asked again',
    ...detail,
  })
}

export function refused(url: URL, what: string, nextStep: string): SlipwayError {
  return new SlipwayError('RegistryRefused', `${placeOf(url)} ${what}`, { nextStep })
}

/** `hadPassword`: whether credentials were given, so that people know which of the two to look at. */
export function failureOf(url: URL, { status, headers, body }: Answer, hadPassword: boolean): SlipwayError {
  const said = `answers ${status}${codeIn(body)}`
  switch (true) {
    case status === 401 || status === 403: {
      const why = hadPassword ? 'it does not take the credentials' : 'it wants credentials, and none are given'
      const next = hadPassword ? 'correct the Secret' : 'name a Secret'
      return refused(url, `${said}: ${why}`, `${next} in spec.registries of MaintenancePolicy/default`)
    }
    case status === 404:
      return refused(url, `${said}: it has no such name, tag or digest`, 'correct the reference')
    case status === 429: {
      const retryAfterMs = waitOf(headers['retry-after'], headers.date)
      const when = retryAfterMs === undefined ? '' : ` for ${Math.ceil(retryAfterMs / 1000)} s`
      return cannotReach(url, `${said}: it was asked too often, and wants to be left alone${when}`, { retryAfterMs })
    }
    case status === 408 || (status >= 500 && status !== 501):
      return cannotReach(url, `${said}: it has a fault`, {
        retryAfterMs: waitOf(headers['retry-after'], headers.date),
      })
    default:
      return refused(url, said, 'look at the registry: is this the address of one?')
  }
}

/** An address may carry a password or a ticket. */
export function placeOf({ protocol, host, pathname }: URL): string {
  return `${protocol}//${host}${pathname}`
}

/** The code alone: what else a server writes could hold what it was sent. */
function codeIn(body: Buffer): string {
  const parsed = errorsSchema.safeParse(jsonOf(body.toString('utf8')))
  const code = parsed.success ? parsed.data.errors[0]?.code : undefined
  return code !== undefined && /^[A-Z_]{1,40}$/.test(code) ? ` ${code}` : ''
}

/** Seconds, or a date by the server's own clock. */
function waitOf(header: string | undefined, date: string | undefined): number | undefined {
  if (header === undefined) return undefined
  if (/^\d{1,9}$/.test(header)) return Math.min(Number(header) * 1000, longestWaitMs)
  const ms = Date.parse(header) - Date.parse(date ?? '')
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), longestWaitMs)
}
