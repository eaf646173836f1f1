export interface S3Server {
  readonly name: string
  readonly endpoint: string
  readonly keys: { readonly accessKeyID: string; readonly secretAccessKey: string }
  readonly checksSignatures: boolean
  /** Gives back, lists and forgets what was uploaded in parts as S3 does. */
  readonly knowsParts: boolean
  /** Gone from one moment to the next. */
  kill(): Promise<void>
  restart(): Promise<void>
  stop(): Promise<void>
}
