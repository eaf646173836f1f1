import { spawn } from 'node:child_process'
import { SlipwayError } from '../../api/slipway-error.ts'
import type { Command, CommandResult } from '../../ports/host.ts'

const defaultTimeoutMs = 60_000
const defaultBytes = 1024 * 1024
/** As a shell says it, and nsenter too: there is no such program, or it may not be run. */
const exitCodes: Readonly<Record<string, number>> = { ENOENT: 127, EACCES: 126 }

/** Where a program finds the first of the files that it is handed, after its own input and outputs. */
export const firstHanded = 3

export interface Surroundings {
  /** Put before the program. */
  readonly enter: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Open files of ours that it gets, too. */
  readonly handed?: readonly number[]
}

/** Runs a program to its end and keeps the beginning of what it says. */
export function runCommand(
  { argv, env, input, timeoutMs = defaultTimeoutMs, outputBytes = defaultBytes }: Command,
  { enter, env: surrounding, handed = [] }: Surroundings,
  signal: AbortSignal,
): Promise<CommandResult> {
  const [program = '', ...args] = [...enter, ...argv]
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd: '/',
      detached: true,
      env: { ...surrounding, ...env },
      stdio: ['pipe', 'pipe', 'pipe', ...handed],
    })
    const stdout = new Head(outputBytes)
    const stderr = new Head(outputBytes)
    const end = (error: unknown) => {
      killGroup(child.pid)
      finish(() => reject(error))
    }
    const timer = setTimeout(() => end(timedOut(argv, timeoutMs)), timeoutMs)
    const onAbort = () => end(signal.reason)
    let over = false
    const finish = (settle: () => void) => {
      if (over) return
      over = true
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      settle()
    }
    child.once('error', (error: NodeJS.ErrnoException) => {
      const exitCode = exitCodes[error.code ?? '']
      finish(() => (exitCode === undefined ? reject(error) : resolve({ exitCode, stdout: '', stderr: error.message })))
    })
    child.stdout?.on('data', (chunk: Buffer) => stdout.add(chunk))
    child.stderr?.on('data', (chunk: Buffer) => stderr.add(chunk))
    // A program may end without having read what it was given.
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(input ?? '')
    child.once('close', (code) =>
      finish(() => resolve({ exitCode: code ?? 128, stdout: stdout.text(), stderr: stderr.text() })),
    )
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
  })
}

/** The first bytes of a stream; the rest is read and dropped. */
class Head {
  readonly #chunks: Buffer[] = []
  #left: number

  constructor(bytes: number) {
    this.#left = bytes
  }

  add(chunk: Buffer): void {
    if (this.#left <= 0) return
    this.#chunks.push(chunk.subarray(0, this.#left))
    this.#left -= chunk.length
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString('utf8')
  }
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It ended meanwhile.
  }
}

function timedOut(argv: readonly string[], ms: number): SlipwayError {
  return new SlipwayError('CommandTimedOut', `${argv[0]} did not end within ${ms / 1000} s`, {
    nextStep: 'look on the host what it waits for',
  })
}
