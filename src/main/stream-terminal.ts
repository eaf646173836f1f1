import type { WriteStream } from 'node:tty'
import type { Terminal } from '../cli/dependencies.ts'

/** Standard output or error as the command line sees it; a pipe has no size, so it gets a usual one. */
export function streamTerminal(stream: WriteStream, env: Readonly<Record<string, string | undefined>>): Terminal {
  const isTTY = stream.isTTY ?? false
  return {
    write: (text) => void stream.write(text),
    get columns() {
      return stream.columns ?? 80
    },
    get rows() {
      return stream.rows ?? 24
    },
    isTTY,
    color: isTTY && !env.NO_COLOR && env.TERM !== 'dumb',
  }
}
