export interface WebRequest {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** A certificate authority besides the well-known ones, PEM. */
  readonly ca?: string
  /**
   * Signs the body: the header Slipway-Signature gets `t=SECONDS,v1=HEX`, the HMAC-SHA256 of `SECONDS.BODY` with the secret. The time is
   * signed too, so that what was recorded cannot be sent again later.
   */
  readonly signing?: { readonly secret: string; readonly at: Date }
  /** From the first byte sent to the last byte read. */
  readonly timeoutMs: number
}

export interface WebAnswer {
  readonly status: number
  /** Cut where it is longer than anybody reads. */
  readonly body: string
}

/** Servers that gates ask, hooks and notifications tell, and silences are kept by. */
export interface Web {
  /** Any answer is one, whatever its status; redirects are not followed. Throws CannotReach when none comes. */
  request(request: WebRequest, signal: AbortSignal): Promise<WebAnswer>
}
