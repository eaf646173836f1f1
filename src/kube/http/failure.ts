// Names every failure by what the caller can do about it, and says whether the request can have taken effect.

import { X509Certificate } from 'node:crypto'
import { isKubeError, KubeError, type KubeErrorCause, type KubeErrorCode } from '../../api/kube-error.ts'
import type { Patch } from '../../ports/kube-api.ts'
import type { Trust } from './transport.ts'

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
export function refusal(path: string, status: number, body: string, retryAfter: string | undefined): KubeError {
  const said = parseObject(body)
  if (said) return build(status, said, text(said.message) ?? `the server answered ${status}`, retryAfter)
  // For a kind it does not have the server says only "404 page not found".
  const message = status === 404 ? `the server has no ${path}` : unmet(body).slice(0, 300).trim()
  return build(status, {}, message || `the server answered ${status}`, retryAfter)
}

/** A page of readiness has a line for each check; those that failed say enough. */
function unmet(body: string): string {
  const lines = body.split('\n').filter((line) => line.startsWith('[-]'))
  return lines.length > 0 ? lines.join('\n') : body
}

/**
 * A JSON patch whose `test` did not hold is answered as if it were malformed: 422 without a cause (a field that is refused
 * names its cause). Where there are tests it means that the object is not what was decided on.
 */
export function patchRefusal(error: unknown, patch: Patch): unknown {
  if (patch.type !== 'json' || !patch.operations.some(({ op }) => op === 'test')) return error
  if (!isKubeError(error, 'Invalid') || error.status !== 422 || error.causes.length > 0) return error
  const message = 'the object is not what the patch expects: a test did not hold, or a path is not there'
  return new KubeError('Conflict', message, { status: error.status, cause: error })
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
  const causes = causesOf(details.causes)
  return new KubeError(codeOf(status, reason, causes), message, {
    status,
    causes,
    ...(reason === undefined ? {} : { reason }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  })
}

function codeOf(status: number, reason: string | undefined, causes: readonly KubeErrorCause[]): KubeErrorCode {
  if (reason === 'AlreadyExists') return 'AlreadyExists'
  // A merge patch for another object of that name: the server calls its uid immutable, the caller must decide again.
  if (status === 422 && causes.some(({ field }) => field === 'metadata.uid')) return 'Conflict'
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

/** The server says no more than "Unauthorized". Where the certificate that was shown has ended, that is why. */
export function credentialsRefusal(error: KubeError, certificate: string | undefined, now: Date): KubeError {
  if (certificate === undefined) return error
  const { validToDate } = new X509Certificate(certificate)
  if (now < validToDate) return error
  const message = `${error.message}: the client certificate ended at ${validToDate.toISOString()}`
  const { code, status, reason } = error
  return new KubeError(code, message, {
    status,
    ...(reason === undefined ? {} : { reason }),
    nextStep: 'renew the client certificate of the kubeconfig, or log in again; a file is read again by itself',
    cause: error,
  })
}

/** A request that failed. */
export interface Failed {
  readonly error: KubeError
  /** It was certainly not carried out: it did not leave. */
  readonly unsent: boolean
  /** The same will happen again: a certificate that is not trusted, say. */
  readonly hopeless: boolean
  /** What may have been renewed meanwhile, and would then help. */
  readonly doubts: readonly Trust[]
}

/** By the code Node gives; the first that fits. */
const distrust: readonly {
  readonly code: RegExp
  readonly doubts: readonly Trust[]
  readonly nextStep?: string
}[] = [
  { code: /^(ERR_TLS_|HOSTNAME_MISMATCH|EPROTO$)/, doubts: [] },
  {
    code: /^(CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO)/,
    doubts: ['authority'],
    nextStep:
      'bring the certificate-authority of the kubeconfig (in a pod: ca.crt of its service account) up to date, or renew the server’s certificate; it is read again by itself',
  },
  {
    code: /^ERR_(SSL|OSSL)_/,
    doubts: ['authority', 'credentials'],
    nextStep: 'check that the client certificate of the kubeconfig, its key and the certificate-authority are whole',
  },
]

/** `sent`: its first byte may have left. Before that nothing can have been done, whatever has failed. */
export function unanswered(cause: unknown, server: string, sent: boolean): Failed {
  const code = errorCode(cause)
  const why = cause instanceof Error ? reasonOf(cause) : String(cause)
  if (code === 'ETIMEDOUT') {
    const error = new KubeError('Timeout', `no answer from ${server} in time (${why})`, { cause })
    return { error, unsent: !sent, hopeless: false, doubts: [] }
  }
  const found = distrust.find((kind) => kind.code.test(code))
  const error = new KubeError('Unreachable', `cannot reach ${server}: ${why}`, { cause, nextStep: found?.nextStep })
  return { error, unsent: !sent, hopeless: found !== undefined, doubts: found?.doubts ?? [] }
}

function errorCode(error: unknown): string {
  if (!(error instanceof Error)) return ''
  // Several addresses were tried: the first tells why.
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
