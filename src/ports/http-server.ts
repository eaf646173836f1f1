export interface HttpRequest {
  readonly method: string
  /** Without the query. */
  readonly path: string
  readonly query: URLSearchParams
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The whole body as text; refused (Usage) where it is larger than that. */
  readBody(maxBytes: number): Promise<string>
  /** Aborted when the caller hangs up. */
  readonly signal: AbortSignal
}

/** One caller who listens for as long as they like. */
export interface HttpStream {
  /** The same text goes to many: it comes as bytes. */
  write(bytes: Uint8Array): void
  /** What was written and has not left yet. */
  readonly waitingBytes: number
  /** Hangs up. */
  close(): void
}

export interface HttpAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | { readonly stream: (stream: HttpStream, signal: AbortSignal) => void }
}

export interface HttpServer {
  /** Listens on this machine's own addresses only (127.0.0.1, and ::1 where there is one); 0 = any free port. Closed with the signal. */
  listen(
    port: number,
    answer: (request: HttpRequest) => Promise<HttpAnswer>,
    signal: AbortSignal,
  ): Promise<{ readonly port: number }>
}
