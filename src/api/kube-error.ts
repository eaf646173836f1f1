export type KubeErrorCode =
  | 'NotFound'
  | 'AlreadyExists'
  | 'Conflict'
  | 'Invalid'
  | 'Forbidden'
  | 'Unauthorized'
  | 'TooManyRequests'
  | 'Expired'
  | 'ServerError'
  | 'Unreachable'
  | 'Timeout'

/** A call to the Kubernetes API that did not succeed; the contract is written on the KubeApi port. */
export class KubeError extends Error {
  readonly code: KubeErrorCode
  /** The HTTP status, or 0 where nobody answered. */
  readonly status: number
  readonly retryAfterMs: number | undefined
  /** The `reason` of the server's Status object, where it sent one. */
  readonly reason: string | undefined
  /** Status.details.causes: which fields were refused, and why (`DisruptionBudget` for evictions). */
  readonly causes: readonly KubeErrorCause[]
  /** What to do, where more is known than the code says. */
  readonly nextStep: string | undefined

  constructor(
    code: KubeErrorCode,
    message: string,
    detail: {
      readonly status?: number
      readonly retryAfterMs?: number
      readonly reason?: string
      readonly causes?: readonly KubeErrorCause[]
      readonly nextStep?: string | undefined
      readonly cause?: unknown
    } = {},
  ) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause })
    this.name = 'KubeError'
    this.code = code
    this.status = detail.status ?? 0
    this.retryAfterMs = detail.retryAfterMs
    this.reason = detail.reason
    this.causes = detail.causes ?? []
    this.nextStep = detail.nextStep
  }
}

export interface KubeErrorCause {
  readonly reason?: string
  readonly message?: string
  readonly field?: string
}

export function isKubeError(error: unknown, ...codes: readonly KubeErrorCode[]): error is KubeError {
  return error instanceof KubeError && (codes.length === 0 || codes.includes(error.code))
}
