// Looks again and again for planted secrets where others on the hosts could read them: in arguments of processes, also of such that soon
// end, and in the logs of Slipway's pods, also of such that are soon evicted.

import { setTimeout as wait } from 'node:timers/promises'
import type { Machine } from '../bed/machine.ts'
import { secretsIn } from '../bed/secret-forms.ts'

const lookEveryMs = 1_000
const argumentsOfAll = 'cat /proc/[0-9]*/cmdline | tr "\\0" " "'
const logsOfSlipway = 'cat /var/log/pods/slipway-system_*/*/*.log'

export class SecretWatch {
  readonly #planted: Readonly<Record<string, string>>
  readonly #found = new Set<string>()
  /** The last text of each place, so that a test can tell that there was something to look at. */
  readonly #texts = new Map<string, string>()
  readonly #stop = new AbortController()
  readonly #ended: Promise<unknown>

  constructor(nodes: readonly Machine[], planted: Readonly<Record<string, string>>) {
    this.#planted = planted
    this.#ended = Promise.all(nodes.map((node) => this.#watch(node)))
    // Heard in `stop`; until then a failure must not count as unheard.
    this.#ended.catch(() => undefined)
  }

  get texts(): ReadonlyMap<string, string> {
    return this.#texts
  }

  /** What was found, and where. */
  async stop(): Promise<readonly string[]> {
    this.#stop.abort()
    await this.#ended
    return [...this.#found]
  }

  async #watch(node: Machine): Promise<void> {
    while (!this.#stop.signal.aborted) {
      await this.#look(node, 'arguments', argumentsOfAll)
      await this.#look(node, 'logs', logsOfSlipway)
      await wait(lookEveryMs)
    }
  }

  /** Processes end and files go while they are read: what is left of them is looked at. */
  async #look(node: Machine, what: string, script: string): Promise<void> {
    const place = `${what} on ${node.name}`
    const { stdout } = await node.exec(['sh', '-c', script])
    this.#texts.set(place, stdout)
    for (const secret of secretsIn(stdout, this.#planted)) this.#found.add(`${secret} in ${place}`)
  }
}
