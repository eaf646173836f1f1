// What an object store's answer means: whether it may pass, and what a person can do.

import { SlipwayError } from '../../../api/slipway-error.ts'
import { errorOf } from './bucket-xml.ts'

export interface BadAnswer {
  readonly status: number
  readonly body: string
}

const nextSteps: Readonly<Record<string, string>> = {
  NoSuchBucket: 'create the bucket, or correct its name in the backup store',
  InvalidAccessKeyId: 'the access key is not known there; correct the Secret of the store',
  SignatureDoesNotMatch: 'the secret key is not the one of the access key; correct the Secret of the store',
  ExpiredToken: 'the temporary credentials have run out; put fresh ones into the Secret of the store',
  InvalidToken: 'the session token is not valid; put fresh credentials into the Secret of the store',
  RequestTimeTooSkewed: 'set the clock of this host right',
  AuthorizationHeaderMalformed: 'set the region of the bucket in the backup store',
  PermanentRedirect: 'set the endpoint and the region of the bucket in the backup store',
  QuotaExceeded: 'free room in the bucket, or raise its quota',
  AccessDenied: 'let these credentials read, write, list and delete in the bucket',
}
const mayPass = new Set(['RequestTimeout', 'SlowDown', 'ServiceUnavailable', 'InternalError', 'OperationAborted'])

/** Worth another try: the server is busy, or has a fault of its own. */
export function isPassing({ status, body }: BadAnswer): boolean {
  if (isFull({ status, body })) return false
  return status >= 500 || status === 429 || status === 408 || mayPass.has(errorOf(body)?.code ?? '')
}

export function errorOfAnswer(place: string, what: string, answer: BadAnswer): SlipwayError {
  const { status, body } = answer
  const { code, message } = errorOf(body) ?? { code: '', message: body.slice(0, 200) }
  const said = [code, message].filter((word) => word !== '').join(': ')
  const quoted = `${what} ${place}: the store answers ${status}${said === '' ? '' : ` ${said}`}`
  if (isPassing(answer)) {
    return new SlipwayError('StoreUnreachable', quoted, { nextStep: 'look at the store; it is tried again' })
  }
  const nextStep = nextSteps[code] ?? (isFull(answer) ? 'free room in the store' : byStatus(status))
  return new SlipwayError('StoreRefused', quoted, { nextStep })
}

function byStatus(status: number): string {
  if (status === 401 || status === 403) return nextSteps.AccessDenied ?? ''
  if (status === 404) return nextSteps.NoSuchBucket ?? ''
  return 'look at the settings of the backup store'
}

function isFull({ status, body }: BadAnswer): boolean {
  const code = errorOf(body)?.code ?? ''
  return status === 507 || /quota|storagefull|insufficient.*(storage|capacity)/i.test(code)
}

const untrusted = /CERT|SELF_SIGNED|UNABLE_TO_(GET_ISSUER|VERIFY)|ALTNAME/

/** No answer came. What is wrong with a certificate stays wrong. */
export function errorOfSilence(place: string, what: string, error: unknown): SlipwayError {
  const message = messageOf(error)
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (untrusted.test(code)) {
    return new SlipwayError('StoreRefused', `${what} ${place}: its certificate is not trusted: ${message}`, {
      nextStep: 'set ca of the backup store to the authority that signed it, or correct the endpoint',
      cause: error,
    })
  }
  return new SlipwayError('StoreUnreachable', `${what} ${place}: no whole answer comes: ${message}`, {
    nextStep: 'look at the endpoint, the network and the store; it is tried again',
    cause: error,
  })
}

/** A connection tried at several addresses fails with all of their causes and no message of its own. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join('; ')
  return error instanceof Error ? error.message : String(error)
}
