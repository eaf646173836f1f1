import type { Pod } from '../api/kube.ts'
import type { CancelTimer } from '../ports/clock.ts'
import type { Containers } from './actors/kubelet-options.ts'
import type { ProcessExit, SimProcess } from './sim-process.ts'
import type { VirtualClock } from './virtual-clock.ts'

/** Programs that really run inside a pretend pod, by the image's name. */
export type Programs = Readonly<Record<string, (pod: Pod, process: SimProcess) => Promise<void>>>

interface Running {
  process: SimProcess | undefined
  cancel: CancelTimer
  restarts: number
  gone: (() => void) | undefined
}

export interface ContainerRuntimeOptions {
  readonly clock: VirtualClock
  readonly programs: Programs
  readonly makeProcess: (pod: Pod, restarts: number) => SimProcess
  readonly onExit: (process: SimProcess, exit: ProcessExit) => void
}

const firstBackOffMs = 1000
const maxBackOffMs = 30_000

/** What runs on one machine: it outlives the kubelet and dies with the power. */
export class ContainerRuntime implements Containers {
  readonly #options: ContainerRuntimeOptions
  readonly #running = new Map<string, Running>()

  constructor(options: ContainerRuntimeOptions) {
    this.#options = options
  }

  isRunning(podUid: string): boolean {
    return this.#running.has(podUid)
  }

  /** What runs in it begins after so long; it is there at once. */
  start(pod: Pod, delayMs = 0): void {
    const running: Running = { process: undefined, cancel: () => undefined, restarts: 0, gone: undefined }
    this.#running.set(pod.metadata.uid, running)
    if (delayMs === 0) this.#launch(pod, running)
    else running.cancel = this.#options.clock.after(delayMs, () => this.#launch(pod, running))
  }

  stop(podUid: string, graceMs: number, gone: () => void): 'waiting' | 'gone' {
    const running = this.#running.get(podUid)
    this.#running.delete(podUid)
    running?.cancel()
    const process = running?.process
    if (running === undefined || process === undefined || !process.alive) return 'gone'
    running.gone = gone
    if (graceMs <= 0) process.crash()
    else {
      running.cancel = this.#options.clock.after(graceMs, () => process.crash())
      process.stop()
    }
    return 'waiting'
  }

  losePower(): void {
    const all = [...this.#running.values()]
    this.#running.clear()
    for (const running of all) {
      running.cancel()
      running.process?.crash()
    }
  }

  /** The processes that run now, for those who make trouble. */
  processes(): readonly SimProcess[] {
    return [...this.#running.values()].flatMap(({ process }) => (process?.alive ? [process] : []))
  }

  #launch(pod: Pod, running: Running): void {
    const image = pod.spec.containers[0]?.image ?? ''
    const program = this.#options.programs[image]
    if (program === undefined) return
    const process = this.#options.makeProcess(pod, running.restarts)
    running.process = process
    process.onExit((exit) => {
      this.#options.onExit(process, exit)
      running.cancel()
      running.gone?.()
      if (this.#running.get(pod.metadata.uid) !== running) return
      const backOffMs = Math.min(maxBackOffMs, firstBackOffMs * 2 ** running.restarts)
      running.restarts++
      running.cancel = this.#options.clock.after(backOffMs, () => this.#launch(pod, running))
    })
    process.start((self) => program(pod, self))
  }
}
