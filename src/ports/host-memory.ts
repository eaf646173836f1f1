/** What the agent kept on a host and could not be taken away, or must not be. */
export interface KeptOnHost {
  readonly path: string
  readonly why: string
}
