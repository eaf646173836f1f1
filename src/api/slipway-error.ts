import type { Reason } from './reason.ts'

export type SlipwayErrorCode =
  | 'Usage'
  | 'KubeconfigMissing'
  | 'KubeconfigBroken'
  | 'CannotReach'
  | 'NotPermitted'
  | 'CrdsMissing'
  | 'CrdsOutdated'
  | 'NotFound'
  | 'Refused'
  | 'DiskFull'
  | 'DiskNotFound'
  | 'DiskFailed'
  | 'CommandTimedOut'
  | Reason['code']
  | 'NotLeader'
  | 'Stopped'
  | 'Internal'

/** Every failure of ours: a code, what happened (the message), and what to do next. */
export class SlipwayError extends Error {
  readonly code: SlipwayErrorCode
  readonly nextStep: string | undefined

  constructor(
    code: SlipwayErrorCode,
    message: string,
    detail: { readonly nextStep?: string; readonly cause?: unknown } = {},
  ) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause })
    this.name = 'SlipwayError'
    this.code = code
    this.nextStep = detail.nextStep
  }
}
