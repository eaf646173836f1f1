// The one place where failures become HTTP: a status of its kind, and what the page shows of it.

import type { ConsoleError } from '../api/console.ts'
import type { SlipwayErrorCode } from '../api/slipway-error.ts'
import { asSlipwayError } from '../core/failure.ts'
import type { HttpAnswer } from '../ports/http-server.ts'

const statusByCode: Partial<Readonly<Record<SlipwayErrorCode, number>>> = {
  Usage: 400,
  NotPermitted: 403,
  NotFound: 404,
  Refused: 409,
  CannotReach: 502,
  CrdsMissing: 502,
  CrdsOutdated: 502,
  Stopped: 503,
  Internal: 500,
}

export function json(value: unknown, status = 200): HttpAnswer {
  return {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' },
    body: JSON.stringify(value),
  }
}

export function failureAnswer(error: unknown): HttpAnswer {
  const { code, message, nextStep = 'try again' } = asSlipwayError(error)
  const told: ConsoleError = { code, message, nextStep }
  return json(told, statusByCode[code] ?? 500)
}

/** On every answer: no other site may frame it, read it or be sent to with its address; only our own files run. */
export const guardHeaders: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}
