import { setTimeout as delay } from 'node:timers/promises'
import { SystemClock } from '../../src/adapters/clock/system-clock.ts'
import { SystemRandom } from '../../src/adapters/random/system-random.ts'
import { runAgent } from '../../src/agent/agent.ts'
import type { Driver } from '../../src/agent/drivers/driver.ts'
import type { AgentOrder, Order } from '../../src/api/node-state.ts'
import type { Clock } from '../../src/ports/clock.ts'
import type { Host } from '../../src/ports/host.ts'
import { OneNodeCluster } from '../agent/one-node-cluster.ts'
import type { Machine } from '../bed/machine.ts'
import { hostOfMachine } from '../conformance/host-of-machine.ts'
import { RecordingLog } from '../fakes/recording-log.ts'

const lookAgainMs = 100

/** The agent of one booted machine, as its pod would be: gone with each boot, and there again when the machine is up. */
export class ResidentAgent implements AsyncDisposable {
  readonly cluster = new OneNodeCluster()
  readonly log = new RecordingLog()
  /** As long as it is false the agent does not come back: nothing of the cluster can start its pod. */
  comesUp: () => Promise<boolean> = () => Promise.resolve(true)
  /** Instead of the next reboot that is asked for. */
  insteadOfReboot: (() => Promise<void>) | undefined
  readonly #machine: Machine
  readonly #drivers: readonly Driver[]
  readonly #clock: Clock
  readonly #end = new AbortController()
  readonly #life: Promise<void>

  constructor(machine: Machine, drivers: (clock: Clock) => readonly Driver[]) {
    this.#machine = machine
    this.#clock = new SystemClock()
    this.#drivers = drivers(this.#clock)
    this.cluster.place(undefined)
    this.#life = this.#live()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort(new Error('the test is over'))
    await this.#life
  }

  get order(): AgentOrder | undefined {
    return this.cluster.agent?.order
  }

  /** Gives the order and waits for the agent's last word on it. */
  async carryOut(order: Order, withinMs = 300_000): Promise<AgentOrder> {
    this.cluster.place(order)
    return await this.until(
      order.id,
      ({ state }) => ['Succeeded', 'Failed', 'Refused', 'Withdrawn'].includes(state),
      withinMs,
    )
  }

  async until(id: string, isTrue: (order: AgentOrder) => boolean, withinMs = 300_000): Promise<AgentOrder> {
    const endMs = performance.now() + withinMs
    for (;;) {
      const { order } = this
      if (order?.id === id && isTrue(order)) return order
      if (performance.now() > endMs) {
        const lines = this.log.lines.slice(-20).map((line) => JSON.stringify(line))
        throw new Error(`not within ${withinMs} ms: ${JSON.stringify(order)}\n${lines.join('\n')}`)
      }
      await delay(lookAgainMs)
    }
  }

  async #live(): Promise<void> {
    while (!this.#end.signal.aborted) {
      const init = this.#machine.initPid()
      if (init !== undefined && (await this.#isUp())) await this.#liveOneBoot(init)
      await delay(lookAgainMs)
    }
  }

  async #isUp(): Promise<boolean> {
    try {
      const { stdout } = await this.#machine.exec(['systemctl', 'is-system-running'], { timeoutMs: 5_000 })
      return /^(running|degraded)/.test(stdout) && (await this.comesUp())
    } catch {
      return false
    }
  }

  async #liveOneBoot(init: number): Promise<void> {
    const boot = new AbortController()
    const running = runAgent(
      {
        api: this.cluster.api,
        host: this.#host(),
        clock: this.#clock,
        random: new SystemRandom(),
        log: this.log,
        nodeName: 'w1',
        stateDir: '/var/lib/slipway',
        version: '0.1.0',
        drivers: this.#drivers,
      },
      boot.signal,
    ).catch((error: unknown) => this.log.warn('the agent ended', { error: String(error) }))
    while (!this.#end.signal.aborted && this.#machine.initPid() === init) await delay(lookAgainMs)
    boot.abort(new Error('the machine is down'))
    await running
  }

  #host(): Host {
    const host = hostOfMachine(this.#machine)
    const reboot = host.reboot.bind(host)
    host.reboot = async (signal) => {
      const instead = this.insteadOfReboot
      this.insteadOfReboot = undefined
      return await (instead ? instead() : reboot(signal))
    }
    return host
  }
}
