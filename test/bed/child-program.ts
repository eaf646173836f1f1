// A server started for a test: it never outlives the process that started it.

import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { basename } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { endingWithUs } from './ending-with-us.ts'

export class ChildProgram {
  readonly #child: ChildProcess
  readonly #logPath: string
  readonly #name: string
  readonly #ended: Promise<void>
  #isRunning = true

  constructor(program: string, args: readonly string[], logPath: string) {
    this.#name = basename(program)
    this.#logPath = logPath
    const log = openSync(logPath, 'a')
    const [file, argv] = endingWithUs('KILL', program, args)
    this.#child = spawn(file, argv, { stdio: ['ignore', log, log] })
    closeSync(log)
    this.#ended = new Promise((resolve) => {
      this.#child.once('exit', () => {
        this.#isRunning = false
        resolve()
      })
      this.#child.once('error', () => {
        this.#isRunning = false
        resolve()
      })
    })
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  async stop(signal: 'SIGTERM' | 'SIGKILL', withinMs = 15_000): Promise<void> {
    if (this.#isRunning) this.#child.kill(signal)
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), withinMs)
    await this.#ended
    clearTimeout(timer)
  }

  /** For the moment this process ends: nothing can be awaited any more. */
  killNow(): void {
    if (this.#isRunning) this.#child.kill('SIGKILL')
  }

  /** Asks again and again; throws with the last lines of the log when the program has ended or the time is up. */
  async ready(isReady: () => Promise<boolean>, withinMs = 180_000): Promise<void> {
    const endMs = performance.now() + withinMs
    while (!(await isReady().catch(() => false))) {
      if (!this.#isRunning || performance.now() > endMs) {
        const log = readFileSync(this.#logPath, 'utf8').trim().split('\n').slice(-8).join('\n')
        throw new Error(`${this.#name} ${this.#isRunning ? 'is not ready' : 'has ended'}:\n${log}`)
      }
      await wait(50)
    }
  }
}

/** Below those that the kernel gives to whoever asks for any: one of them may be somebody else's before its program is up. */
const firstPort = 12_000
const lastPort = 30_000

/** Ports nobody listens on now, all different. */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>()
  while (ports.size < count) {
    const port = randomInt(firstPort, lastPort)
    if (await isFree(port)) ports.add(port)
  }
  return [...ports]
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  try {
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve))
  } catch {
    return false
  }
  await new Promise((resolve) => server.close(resolve))
  return true
}
