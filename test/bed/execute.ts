import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'

export interface Execution {
  /** As a shell says it: 128 and the signal's number where a signal ended the program. */
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface ExecuteOptions {
  /** Given to the program's standard input: this text, or this file. Without it the input is empty. */
  readonly input?: string | Buffer | { readonly file: string }
  readonly env?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

const signalNumbers: Readonly<Record<string, number>> = { SIGHUP: 1, SIGINT: 2, SIGKILL: 9, SIGTERM: 15 }

/** Runs a program to its end and says how it ended; throws only if it cannot be started. */
export async function execute(argv: readonly string[], options: ExecuteOptions = {}): Promise<Execution> {
  const { input } = options
  const fromFile = typeof input === 'object' && 'file' in input
  const inputFile = fromFile ? openSync(input.file, 'r') : undefined
  try {
    return await new Promise((resolve, reject) => {
      const [program = '', ...args] = argv
      const child = spawn(program, args, {
        env: options.env ?? process.env,
        stdio: [inputFile ?? 'pipe', 'pipe', 'pipe'],
        ...(options.signal === undefined ? {} : { signal: options.signal }),
      })
      const stdout: Buffer[] = []
      const stderr: Buffer[] = []
      child.stdout?.on('data', (chunk: Buffer) => stdout.push(chunk))
      child.stderr?.on('data', (chunk: Buffer) => stderr.push(chunk))
      // A program may end without reading all of it.
      child.stdin?.on('error', () => undefined)
      if (!fromFile) child.stdin?.end(input ?? '')
      child.once('error', (error) => reject(new Error(`${program} cannot be run: ${error.message}`, { cause: error })))
      child.once('close', (code, signal) => {
        resolve({
          code: code ?? 128 + (signalNumbers[signal ?? ''] ?? 0),
          stdout: Buffer.concat(stdout).toString(),
          stderr: Buffer.concat(stderr).toString(),
        })
      })
    })
  } finally {
    if (inputFile !== undefined) closeSync(inputFile)
  }
}
