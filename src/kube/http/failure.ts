// Names every failure by what the caller can do about it, and says whether the request can have taken effect.

import { KubeError, type KubeErrorCause, type KubeErrorCode } from '../../api/kube-error.ts'

type Json = Readonly<Record<string, unknown>>

const codes: Readonly<Record<number, KubeErrorCode>> = {
  400: 'Invalid',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'Invalid',
  406: 'Invalid',
  408: 'Timeout',
  409: 'Conflict',
  410: 'Expired',
  413: 'Invalid',
  415: 'Invalid',
  422: 'Invalid',
  429: 'TooManyRequests',
  504: 'Timeout',
}

/** From an HTTP answer that is no success; `body` is the Status object, or whatever a proxy in between has said. */
export function refusal(status: number, body: string, retryAfter: string | undefined): KubeError {
  const said = parseObject(body)
  return said === undefined
    ? build(status, {}, body.slice(0, 300).trim() || `the server answered ${status}`, retryAfter)
    : build(status, said, text(said.message) ?? `the server answered ${status}`, retryAfter)
}

/** From the Status object that ends a watch. */
export function watchRefusal(object: unknown): KubeError {
  const said = isObject(object) ? object : {}
  const status = typeof said.code === 'number' ? said.code : 500
  return build(status, said, text(said.message) ?? 'the server ended the watch', undefined)
}

function build(status: number, said: Json, message: string, retryAfter: string | undefined): KubeError {
  const reason = text(said.reason)
  const details = isObject(said.details) ? said.details : {}
  const retryAfterMs = retryMs(retryAfter, details.retryAfterSeconds)
  return new KubeError(codeOf(status, reason, message), message, {
    status,
    causes: causesOf(details.causes),
    ...(reason === undefined ? {} : { reason }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  })
}

function codeOf(status: number, reason: string | undefined, message: string): KubeErrorCode {
  if (reason === 'AlreadyExists') return 'AlreadyExists'
  // A `test` of a JSON patch that does not hold is answered like a malformed patch; only the message tells them apart.
  if (status === 422 && /^testing (value|path) .* failed|^test(ing)? failed/i.test(message)) return 'Conflict'
  return codes[status] ?? 'ServerError'
}

function retryMs(header: string | undefined, seconds: unknown): number | undefined {
  const fromHeader = header === undefined ? Number.NaN : Number(header)
  if (Number.isFinite(fromHeader) && fromHeader >= 0) return fromHeader * 1_000
  return typeof seconds === 'number' && seconds > 0 ? seconds * 1_000 : undefined
}

function causesOf(causes: unknown): KubeErrorCause[] {
  if (!Array.isArray(causes)) return []
  return causes.filter(isObject).map((cause) => {
    const [reason, message, field] = [text(cause.reason), text(cause.message), text(cause.field)]
    return {
      ...(reason === undefined ? {} : { reason }),
      ...(message === undefined ? {} : { message }),
      ...(field === undefined ? {} : { field }),
    }
  })
}

/** A request that nobody answered. */
export interface Unanswered {
  readonly error: KubeError
  /** It was certainly not carried out: no connection came about. */
  readonly unsent: boolean
  /** The same will happen again: a certificate that is not trusted, say. */
  readonly hopeless: boolean
}

const beforeSending = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_PRX_CONN',
  'UND_ERR_PRX_TLS',
])
const timeouts = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'ETIMEDOUT'])
const untrusted = /^(CERT_|ERR_TLS_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|ERR_SSL_|HOSTNAME_MISMATCH)/

export function unanswered(cause: unknown, server: string): Unanswered {
  const code = errorCode(cause)
  const why = cause instanceof Error ? reasonOf(cause) : String(cause)
  if (timeouts.has(code)) {
    const error = new KubeError('Timeout', `no answer from ${server} in time (${why})`, { cause })
    return { error, unsent: false, hopeless: false }
  }
  const hopeless = untrusted.test(code) || code === 'EPROTO'
  const error = new KubeError('Unreachable', `cannot reach ${server}: ${why}`, { cause })
  return { error, unsent: hopeless || beforeSending.has(code), hopeless }
}

function errorCode(error: unknown): string {
  if (!(error instanceof Error)) return ''
  // Several addresses were tried: all of them failed before anything was sent, the first tells why.
  if (error instanceof AggregateError) return errorCode(error.errors[0])
  if ('code' in error && typeof error.code === 'string') return error.code
  return errorCode(error.cause)
}

function reasonOf(error: Error): string {
  if (error instanceof AggregateError) {
    const [first] = error.errors
    return first instanceof Error ? first.message : error.message
  }
  return error.message === '' ? errorCode(error) : error.message
}

function parseObject(body: string): Json | undefined {
  if (!body.startsWith('{')) return undefined
  try {
    const parsed: unknown = JSON.parse(body)
    return isObject(parsed) ? parsed : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
