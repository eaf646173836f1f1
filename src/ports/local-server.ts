/** Writes one line to whoever asked; resolves when it may write on. */
export type Reply = (line: string) => Promise<void>

/** Answers one line; the signal is aborted when the caller hangs up. */
export type AnswerLine = (line: string, reply: Reply, signal: AbortSignal) => Promise<void>

/** A socket on this machine that only its owner may use: lines in, lines out, one request of a connection after another. */
export interface LocalServer {
  /** Serves until aborted, then removes the socket. A socket that a dead server left behind is replaced. */
  serve(path: string, answer: AnswerLine, signal: AbortSignal): Promise<void>
}

export interface LocalClient {
  /** Sends one line and hands over each line that comes back, until the server hangs up. CannotReach where nobody listens. */
  ask(path: string, line: string, onLine: (line: string) => void, signal: AbortSignal): Promise<void>
}
