export interface WebRequest {
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** A certificate authority besides the well-known ones, PEM. */
  readonly ca?: string
  /** From the first byte sent to the last byte read. */
  readonly timeoutMs: number
}

export interface WebAnswer {
  readonly status: number
  /** Cut where it is longer than anybody reads. */
  readonly body: string
}

/** Servers that gates ask and hooks tell. */
export interface Web {
  /** Any answer is one, whatever its status; redirects are not followed. Throws CannotReach when none comes. */
  request(request: WebRequest, signal: AbortSignal): Promise<WebAnswer>
}
