// Slipway run from its sources as a real process: one that stays until it is stopped, killed or frozen, or one command.

import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { ChildProgram } from '../bed/child-program.ts'

/** Of these sources. */
export const ownProgram = fileURLToPath(new URL('../../src/main/slipway.ts', import.meta.url))
const commandWithinMs = 60_000

export class SlipwayProcess {
  readonly name: string
  readonly #args: readonly string[]
  readonly #logPath: string
  #program: string
  #child: ChildProgram | undefined

  constructor(name: string, args: readonly string[], logPath: string, program = ownProgram) {
    this.#program = program
    this.name = name
    this.#args = args
    this.#logPath = logPath
  }

  get pid(): number {
    return this.#child?.pid ?? 0
  }

  /** Empty before its first start. */
  get log(): string {
    return existsSync(this.#logPath) ? readFileSync(this.#logPath, 'utf8') : ''
  }

  start(): void {
    this.#child ??= new ChildProgram(process.execPath, [this.#program, ...this.#args], this.#logPath)
  }

  /** Killed, and started again as that program; all it finds is what it had written down. */
  async becomes(program: string): Promise<void> {
    await this.kill()
    this.#program = program
    this.start()
  }

  /** SIGKILL: it gets no chance to tidy up. */
  async kill(): Promise<void> {
    await this.#child?.stop('SIGKILL')
    this.#child = undefined
  }

  async stop(): Promise<void> {
    await this.#child?.stop('SIGTERM', 5_000)
    this.#child = undefined
  }

  freeze(): void {
    this.#signal('SIGSTOP')
  }

  wake(): void {
    this.#signal('SIGCONT')
  }

  /** For the moment the test process ends. */
  killNow(): void {
    this.#child?.killNow()
  }

  #signal(signal: NodeJS.Signals): void {
    if (!this.#child) throw new Error(`${this.name} does not run`)
    process.kill(this.#child.pid, signal)
  }
}

export interface CommandResult {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Runs one command to its end; nothing of the caller's own kubeconfig reaches it. */
export function runSlipway(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  program = ownProgram,
): Promise<CommandResult> {
  const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env
  const inherited = { PATH, NODE_COMPILE_CACHE, HOME: '/nonexistent', NO_COLOR: '1' }
  return new Promise((resolve, reject) => {
    // Not by `timeout`: that closes the pipes first, and a command whose reader has gone ends with 0.
    const options = { env: { ...inherited, ...env }, signal: AbortSignal.timeout(commandWithinMs), maxBuffer: 1 << 24 }
    execFile(process.execPath, [program, ...args], options, (error, out, err) => {
      const code = error ? error.code : 0
      if (typeof code === 'number') resolve({ code, out, err })
      else
        reject(
          new Error(`slipway ${args.join(' ')} did not end by itself: ${error?.message}\n${err}`, { cause: error }),
        )
    })
  })
}
