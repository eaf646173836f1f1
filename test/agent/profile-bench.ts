import type { AgentOptions } from '../../src/agent/agent.ts'
import { driftWatch } from '../../src/agent/drift/drift-watch.ts'
import type { ArgumentChange } from '../../src/agent/drivers/profile/kernel-arguments-work.ts'
import { profileDriver } from '../../src/agent/drivers/profile/profile-driver.ts'
import { rebootDriver } from '../../src/agent/drivers/reboot/reboot.ts'
import { scriptDriver } from '../../src/agent/drivers/script.ts'
import { sha256 } from '../../src/agent/journal/sealed-file.ts'
import { Turn } from '../../src/agent/turn.ts'
import type { DesiredState } from '../../src/api/desired-state.ts'
import { configMaps } from '../../src/api/kube.ts'
import type { Order } from '../../src/api/node-state.ts'
import type { SealedText } from '../../src/api/sealed-text.ts'
import type { Work } from '../../src/api/work.ts'
import { canonicalJson } from '../../src/core/fingerprint.ts'
import { AgentBench, scriptOrder } from './agent-bench.ts'
import { PretendSystem } from './pretend-system.ts'

type Undrained = NonNullable<Work['profile']>['undrained']

export const stateDir = '/var/lib/slipway'

/** An agent with the profile driver on a machine with systemd, kernel settings and files. */
export class ProfileBench extends AgentBench {
  readonly system = new PretendSystem(() => this.disk)
  readonly kernelArguments = new Set<string>(['quiet'])
  #turn = new Turn()
  isWatching = false
  #orders = 0

  constructor(seed = 1) {
    super(seed)
    this.host.answer = (command) => this.system.answer(command)
  }

  /** Another life has its own turns: one that was killed in its turn holds up nobody. */
  override start(part: Partial<AgentOptions> = {}): void {
    this.#turn = new Turn()
    this.drivers = [profileDriver({ ...this.#options(), now: () => this.clock.now() }), scriptDriver, rebootDriver]
    const { isWatching } = this
    super.start({ ...(isWatching && { sideTasks: [driftWatch(this.#options())] }), ...part })
  }

  #options() {
    return {
      stateDir,
      turn: this.#turn,
      open: ({ text }: SealedText) => Promise.resolve(Buffer.from(text, 'base64').toString()),
      findKernelArguments: () =>
        Promise.resolve({
          list: () => Promise.resolve([...this.kernelArguments]),
          change: ({ add, remove }: ArgumentChange) => {
            for (const one of add) this.kernelArguments.add(one)
            for (const one of remove) this.kernelArguments.delete(one)
            return Promise.resolve()
          },
        }),
    }
  }

  /** As rpm-ostree does, whose changes are kept at an orderly shutdown only. */
  loseKernelArguments(): void {
    this.kernelArguments.clear()
    this.kernelArguments.add('quiet')
  }

  startWatching(): void {
    this.isWatching = true
    this.start()
  }

  get profile() {
    return this.cluster.agent?.profile
  }

  driftOf(state: DesiredState, action: 'Repair' | 'Report') {
    return { desired: this.#store(state), check: '10m', action }
  }

  /** Puts the state where the order says, and the order itself. */
  want(state: DesiredState, part: Partial<Order> = {}, undrained?: Undrained): Order {
    const desired = this.#store(state)
    this.#orders += 1
    const work = { ...part.work, profile: { profiles: ['base'], desired, ...(undrained && { undrained }) } }
    const order = scriptOrder({ id: `op-${this.#orders}`, kind: 'NodeProfile', ...part, work })
    this.cluster.place(order)
    return order
  }

  #store(state: DesiredState) {
    const text = canonicalJson(state)
    const hash = sha256(text)
    const desired = { configMap: `content-${hash.slice(0, 12)}`, namespace: 'slipway-system', sha256: hash }
    this.cluster.api.put(configMaps, {
      metadata: { name: desired.configMap, namespace: desired.namespace },
      data: { script: text },
    })
    return desired
  }

  /** Carries it out to its end; returns how that was reported. */
  async apply(state: DesiredState, part: Partial<Order> = {}) {
    return await this.#ended(this.want(state, part))
  }

  /** The same on a node that stays at work: only these profiles may disturb it. */
  async applyUndrained(state: DesiredState, mayDisturb: string[] = []) {
    return await this.#ended(this.want(state, {}, { mayDisturb }))
  }

  async #ended({ id }: Order) {
    await this.clock.until(() => this.order?.id === id && this.order.finishedAt !== undefined)
    return this.order
  }

  async writeFile(path: string, content: string, mode = 0o644): Promise<void> {
    await this.host.files.write(path, content, { mode, owner: 'root', group: 'root' })
  }

  /** Everything a profile could have changed. */
  machine(): object {
    return {
      files: Object.fromEntries(
        [...this.disk.files]
          .filter(([path]) => path.startsWith('/pretend/files/'))
          .map(([path, { content }]) => [decodeURIComponent(path.slice(15)), content]),
      ),
      units: Object.fromEntries([...this.system.units].map(([name, unit]) => [name, { ...unit }])),
      sysctls: Object.fromEntries(this.system.sysctls),
      kernelArguments: [...this.kernelArguments].sort(),
      record: this.disk.files.get(`${stateDir}/profile.json`)?.content,
    }
  }
}
