// Why what the console shows may be old.

export interface TroubleView {
  readonly since: string
  readonly message: string
  readonly nextStep: string
  /** The API server answers, though not for all that is shown: something may be asked of it. */
  readonly answers: boolean
}
