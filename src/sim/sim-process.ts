import type { KubeApi } from '../ports/kube-api.ts'
import type { RequestCounter } from './request-counter.ts'
import type { FaultSource } from './request-fault.ts'
import type { SeededRandom } from './seeded-random.ts'
import type { SimApi } from './sim-api.ts'
import { SimClient } from './sim-client.ts'
import type { ScopedClock, VirtualClock } from './virtual-clock.ts'

export type ProcessExit =
  | { readonly how: 'returned' }
  | { readonly how: 'failed'; readonly error: unknown }
  | { readonly how: 'crashed' }

/** Where processes run: what all of them share. */
export interface SimWorld {
  readonly clock: VirtualClock
  readonly server: SimApi
  readonly counter: RequestCounter
}

export interface SimProcessOptions {
  readonly name: string
  readonly random: SeededRandom
  readonly latencyMs: readonly [number, number]
  readonly faults?: FaultSource | undefined
  /** How far the machine's wall clock is off. */
  readonly skewMs?: number
  readonly monotonicOffsetMs?: number
}

/** A process on a machine: what it does stops with it. */
export class SimProcess {
  readonly name: string
  /** Aborted to ask it to stop, as SIGTERM does. */
  readonly signal: AbortSignal
  readonly clock: ScopedClock
  readonly api: KubeApi
  readonly random: SeededRandom
  readonly exit: Promise<ProcessExit>
  readonly #client: SimClient
  readonly #wire: VirtualClock
  readonly #term = new AbortController()
  readonly #exited: (exit: ProcessExit) => void
  readonly #listeners: ((exit: ProcessExit) => void)[] = []
  #alive = true

  constructor(world: SimWorld, options: SimProcessOptions) {
    this.name = options.name
    this.signal = this.#term.signal
    this.random = options.random
    this.#wire = world.clock
    this.clock = world.clock.scoped({
      skewMs: options.skewMs ?? 0,
      monotonicOffsetMs: options.monotonicOffsetMs ?? 0,
    })
    this.#client = new SimClient({
      name: options.name,
      server: world.server,
      wire: world.clock,
      clock: this.clock,
      random: options.random.fork('wire'),
      latencyMs: options.latencyMs,
      counter: world.counter,
      faults: options.faults,
      crash: () => this.crash(),
    })
    this.api = this.#client
    const { promise, resolve } = Promise.withResolvers<ProcessExit>()
    this.exit = promise
    this.#exited = resolve
  }

  get alive(): boolean {
    return this.#alive
  }

  /** Runs the program; its end is the process's end. */
  start(program: (process: SimProcess) => Promise<void>): this {
    program(this).then(
      () => this.#end({ how: 'returned' }),
      (error: unknown) => this.#end({ how: 'failed', error }),
    )
    return this
  }

  /** Synchronously told when it is over, whichever way. */
  onExit(listener: (exit: ProcessExit) => void): void {
    this.#listeners.push(listener)
  }

  /** Asks it to stop (SIGTERM). */
  stop(): void {
    if (this.#alive) this.#term.abort(new Error(`${this.name} was asked to stop`))
  }

  /** SIGKILL: its timers never fire again, its calls never settle. */
  crash(): void {
    this.#end({ how: 'crashed' })
  }

  /** SIGSTOP for a while, then SIGCONT: it wakes and believes that no time has passed. */
  freeze(ms: number): void {
    this.clock.freeze()
    this.#wire.after(ms, () => this.clock.thaw())
  }

  breakWatches(): void {
    this.#client.breakWatches()
  }

  #end(exit: ProcessExit): void {
    if (!this.#alive) return
    this.#alive = false
    this.clock.kill()
    this.#client.kill()
    this.#exited(exit)
    for (const listener of this.#listeners) listener(exit)
  }
}
