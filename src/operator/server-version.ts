// The version of the API server. Where somebody else runs the control plane no agent tells it, and it changes while we lead.

import { isKubeError } from '../api/kube-error.ts'
import { LinkedAbort } from '../kube/linked-abort.ts'
import { sleep } from '../kube/sleep.ts'
import type { OperatorPorts } from './ports.ts'

/** Nothing depends on it. */
const seldomMs = 600_000
/** Something waits for a newer one. */
const soonMs = 30_000

type Ports = Pick<OperatorPorts, 'api' | 'clock' | 'log'>

export class ServerVersion {
  readonly #ports: Ports
  #version: string
  #readAtMs: number
  #isDoubted = false
  #wakeUp: () => void = () => undefined

  private constructor(ports: Ports, version: string) {
    this.#ports = ports
    this.#version = version
    this.#readAtMs = ports.clock.monotonicMs()
  }

  static async read(ports: Ports, signal: AbortSignal): Promise<ServerVersion> {
    return new ServerVersion(ports, await ports.api.serverVersion(signal))
  }

  get version(): string {
    return this.#version
  }

  /** Something is held up because of it: it is read again soon. */
  doubt(): void {
    this.#isDoubted = true
    this.#wakeUp()
  }

  /** Reads it again, unless that was done so lately. With the API away it is what it was. */
  async renew(atMostMs: number, signal: AbortSignal): Promise<string> {
    const { api, clock, log } = this.#ports
    if (clock.monotonicMs() - this.#readAtMs < atMostMs) return this.#version
    try {
      const version = await api.serverVersion(signal)
      if (version !== this.#version) log.info('the API server has another version', { version, was: this.#version })
      this.#version = version
      this.#readAtMs = clock.monotonicMs()
    } catch (error) {
      if (signal.aborted || !isKubeError(error)) throw error
      log.warn('cannot read the version of the API server; it is taken for what it was', { error: error.message })
    }
    return this.#version
  }

  /** Reads it from time to time. `onNews`: it is another, or somebody who doubted it should look again. */
  async run(onNews: () => void, signal: AbortSignal): Promise<void> {
    for (;;) {
      await this.#rest(signal)
      const before = this.#version
      const wasDoubted = this.#isDoubted
      this.#isDoubted = false
      if ((await this.renew(0, signal)) !== before || wasDoubted) onNews()
    }
  }

  async #rest(signal: AbortSignal): Promise<void> {
    if (!this.#isDoubted) {
      const nap = new LinkedAbort(signal)
      this.#wakeUp = () => nap.abort('somebody waits for another version')
      try {
        await sleep(this.#ports.clock, seldomMs, nap.signal)
      } catch (error) {
        if (!this.#isDoubted || signal.aborted) throw error
      } finally {
        nap.abort('the rest is over')
      }
    }
    if (this.#isDoubted) await sleep(this.#ports.clock, soonMs, signal)
  }
}
