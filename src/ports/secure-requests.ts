/** PEM texts: who may answer, and who asks. */
export interface RequestCredentials {
  readonly ca?: string
  readonly certificate?: string
  readonly key?: string
}

export interface SecureRequest {
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly body?: string
  readonly credentials: RequestCredentials
  readonly timeoutMs: number
  /** A socket of this machine that is asked instead of the host of the address. */
  readonly socketPath?: string
}

export interface SecureAnswer {
  readonly status: number
  /** At most 1 MiB of it. */
  readonly body: string
}

/** Short questions to the servers of a control plane, each over a connection of its own. */
export interface SecureRequests {
  /** The answer, whatever its status. Throws CannotReach where none comes in time, naming the address and the cause. */
  send(request: SecureRequest, signal: AbortSignal): Promise<SecureAnswer>
}

export interface StreamedAnswer {
  readonly status: number
  /** As it comes; throws CannotReach where it breaks off or nothing comes for so long. */
  readonly body: AsyncIterable<Uint8Array>
}

/** Questions whose answer is long. */
export interface SecureStreams {
  /** `timeoutMs` is how long the server may stay silent. Throws CannotReach as `send` does. */
  open(request: SecureRequest, signal: AbortSignal): Promise<StreamedAnswer>
}
