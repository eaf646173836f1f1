import { type AgentOptions, runAgent } from '../../src/agent/agent.ts'
import type { Driver } from '../../src/agent/drivers/driver.ts'
import { rehearsalDrivers } from '../../src/agent/drivers/rehearsal-kubernetes.ts'
import { scriptDriver } from '../../src/agent/drivers/script.ts'
import { sha256 } from '../../src/agent/journal/sealed-file.ts'
import type { Order } from '../../src/api/node-state.ts'
import type { KubeApi } from '../../src/ports/kube-api.ts'
import { SeededRandom } from '../../src/sim/seeded-random.ts'
import { ManualClock } from '../fakes/manual-clock.ts'
import { MemoryDisk } from '../fakes/memory-disk.ts'
import { type LogLine, RecordingLog } from '../fakes/recording-log.ts'
import { FakeHost } from './fake-host.ts'
import { OneNodeCluster } from './one-node-cluster.ts'

export const script = 'echo hello\n'

export const scriptOrder = (part: Partial<Order> = {}): Order => ({
  id: 'op-1',
  update: 'to-1-36',
  nodeUID: 'node-uid',
  epoch: 1,
  role: 'Worker',
  offline: 'Refused',
  desired: 'Run',
  timeout: '30m',
  work: { script: { configMap: 'hello', namespace: 'slipway-system', sha256: sha256(script) } },
  ...part,
})

export const kubernetesOrder = (part: Partial<Order> = {}): Order =>
  scriptOrder({ work: { kubernetes: { version: 'v1.36.3' } }, ...part })

/** One node with its agent, which can be killed and started again. */
export class AgentBench {
  readonly clock = new ManualClock()
  readonly cluster = new OneNodeCluster()
  readonly host = new FakeHost(new MemoryDisk(), this.clock)
  readonly log = new RecordingLog()
  /** All of a run follows from its seed. */
  readonly random: SeededRandom
  drivers: readonly Driver[] = [scriptDriver, ...rehearsalDrivers]
  #life = new AbortController()

  constructor(seed = 1) {
    this.random = new SeededRandom(seed)
    this.cluster.storeScript(script)
    this.host.behave = (job) => ({
      ms: 1000,
      exitCode: 0,
      effect: () => {
        if (job.argv[0] === 'pretend-upgrade') {
          const component = job.argv[1] === 'kubelet' ? 'kubelet' : 'apiServer'
          this.host.facts_ = { ...this.host.facts_, [component]: job.argv[2] }
        }
      },
    })
  }

  get order() {
    return this.cluster.agent?.order
  }

  get disk(): MemoryDisk {
    return this.host.disk
  }

  start(part: Partial<AgentOptions> = {}): void {
    const life = new AbortController()
    this.#life = life
    const { clock, host, random, log } = this
    const options: AgentOptions = {
      api: mortal(this.cluster.api, life.signal),
      host,
      clock,
      random,
      log,
      nodeName: 'w1',
      stateDir: '/var/lib/slipway',
      version: '0.1.0',
      drivers: this.drivers,
      ...part,
    }
    void runAgent(options, life.signal)
  }

  /** The agent is gone from one moment to the next; the machine goes on. */
  kill(): void {
    this.disk.budget = this.disk.operations
    this.#life.abort(new Error('killed'))
    this.host.dropHeld()
  }

  /** A life that dies at its n-th disk operation from now; resolves when it is dead or the condition holds. */
  async startAndDieAfter(operations: number, condition: () => boolean): Promise<boolean> {
    let dead = false
    this.disk.budget = this.disk.operations + operations
    this.disk.onSpent = () => {
      dead = true
    }
    this.start()
    await this.clock.until(() => dead || condition())
    this.kill()
    return dead
  }

  restart(part: Partial<AgentOptions> = {}): void {
    this.disk.budget = Number.POSITIVE_INFINITY
    this.start(part)
  }

  hasEnded(state: string): () => boolean {
    return () => this.order?.state === state
  }

  files(): readonly string[] {
    return [...this.disk.files.keys()].filter((path) => path.startsWith('/var/lib/slipway/orders/')).sort()
  }

  /** What was logged with this text in its message or its fields. */
  logged(text: string): readonly LogLine[] {
    return this.log.lines.filter((line) => JSON.stringify(line).includes(text))
  }
}

/** An agent that has published its facts and waits. */
export async function idleAgent(seed = 1): Promise<AgentBench> {
  const bench = new AgentBench(seed)
  bench.cluster.place(undefined)
  bench.start()
  await bench.clock.until(() => bench.cluster.agent !== undefined)
  bench.cluster.requests.length = 0
  bench.cluster.api.patches.length = 0
  return bench
}

/** An API whose caller may die: then its requests reach nobody and no answer comes. */
function mortal(api: KubeApi, signal: AbortSignal): KubeApi {
  const or = <T>(ask: () => Promise<T>): Promise<T> => (signal.aborted ? new Promise<T>(() => undefined) : ask())
  return {
    get: (type, ref, stop) => or(() => api.get(type, ref, stop)),
    list: (type, options, stop) => or(() => api.list(type, options, stop)),
    watch: (type, options, onEvent, stop) => or(() => api.watch(type, options, onEvent, stop)),
    create: (type, object, stop) => or(() => api.create(type, object, stop)),
    replace: (type, object, stop, sub) => or(() => api.replace(type, object, stop, sub)),
    patch: (type, ref, patch, stop, sub) => or(() => api.patch(type, ref, patch, stop, sub)),
    delete: (type, ref, options, stop) => or(() => api.delete(type, ref, options, stop)),
    evict: (pod, options, stop) => or(() => api.evict(pod, options, stop)),
    serverVersion: (stop) => or(() => api.serverVersion(stop)),
    readLines: (path, onLine, stop) => or(() => api.readLines(path, onLine, stop)),
  }
}
