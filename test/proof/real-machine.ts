// A pretended machine on a real API server: its kubelet, its agent, and the operator where the scheduler puts it, all in this process
// and in real time.

import type { SystemClock } from '../../src/adapters/clock/system-clock.ts'
import { runAgent } from '../../src/agent/agent.ts'
import { controlPlaneReporter } from '../../src/agent/control-plane/control-plane-reporter.ts'
import { etcdObstacle } from '../../src/agent/control-plane/step-obstacle.ts'
import { controlPlaneDriver } from '../../src/agent/drivers/control-plane/control-plane-driver.ts'
import { rehearsalDrivers } from '../../src/agent/drivers/rehearsal-kubernetes.ts'
import { scriptDriver } from '../../src/agent/drivers/script.ts'
import type { Pod } from '../../src/api/kube.ts'
import { runOperator } from '../../src/operator/operator.ts'
import type { KubeApi } from '../../src/ports/kube-api.ts'
import { runKubelet } from '../../src/sim/actors/kubelet.ts'
import type { Containers } from '../../src/sim/actors/kubelet-options.ts'
import type { PretendControlPlane } from '../../src/sim/pretend-control-plane.ts'
import { PretendDisk } from '../../src/sim/pretend-disk.ts'
import { PretendHost } from '../../src/sim/pretend-host.ts'
import type { SeededRandom } from '../../src/sim/seeded-random.ts'
import { silentLog } from '../../src/sim/silent-log.ts'
import type { NodeSpec } from '../../src/sim/sim-machine.ts'
import { operatorNamespace } from '../../src/sim/workloads.ts'
import type { ClusterDraft } from './cluster-draft.ts'

export interface MachineSurroundings {
  readonly api: KubeApi
  readonly clock: SystemClock
  readonly random: SeededRandom
  readonly times: Pick<ClusterDraft, 'podStartMs' | 'podStopMs'>
  /** What answers agents that ask etcd or an API server of their own host. */
  readonly controlPlaneServers: PretendControlPlane
}

const workMs = [1_500, 3_000] as const
const jobMs = [5_000, 10_000] as const
/** From the end of a program until it is started again. */
const againMs = 500
const version = '0.0.0'
const controlPlaneLabel = 'node-role.kubernetes.io/control-plane'

export class RealMachine {
  readonly #around: MachineSurroundings
  readonly #node: NodeSpec
  readonly #host: PretendHost
  readonly #power = new AbortController()
  readonly #operators = new Map<string, { readonly stop: AbortController; readonly ended: Promise<void> }>()
  readonly #running = new Set<string>()
  readonly #lives: Promise<void>[] = []
  #kubelet = new AbortController()

  constructor(node: NodeSpec, around: MachineSurroundings) {
    this.#node = node
    this.#around = around
    this.#host = new PretendHost({
      ...{ nodeName: node.name, clock: around.clock, random: around.random.fork(`host/${node.name}`) },
      ...{ disk: new PretendDisk(), role: node.role, version: node.version, workMs },
      onKubeletRestart: () => this.#kubelet.abort(),
    })
  }

  powerOn(): void {
    this.#lives.push(this.#keepRunning(this.#power.signal, () => this.#playKubelet()))
    this.#lives.push(this.#keepRunning(this.#power.signal, () => this.#playAgent()))
  }

  /** For good. */
  async losePower(): Promise<void> {
    this.#power.abort()
    for (const { stop } of this.#operators.values()) stop.abort()
    await Promise.all([...this.#lives, ...[...this.#operators.values()].map(({ ended }) => ended)])
  }

  async #keepRunning(signal: AbortSignal, run: () => Promise<void>): Promise<void> {
    const { clock } = this.#around
    while (!signal.aborted) {
      await run().catch(() => undefined)
      if (!signal.aborted) await new Promise<void>((resolve) => clock.after(againMs, resolve))
    }
  }

  async #playKubelet(): Promise<void> {
    const { api, clock, random, times } = this.#around
    const { name, role, zone = '', labels, allocatable } = this.#node
    this.#kubelet = new AbortController()
    const { kubelet, bootId } = await this.#host.state()
    const isControlPlane = role === 'control-plane'
    await runKubelet(
      {
        ...{ api, clock, random: random.fork(`kubelet/${name}/${bootId}`), nodeName: name, version: kubelet, bootId },
        labels: {
          ...labels,
          'topology.kubernetes.io/zone': zone,
          ...(isControlPlane && { [controlPlaneLabel]: '' }),
        },
        ...(isControlPlane && { taints: [{ key: controlPlaneLabel, effect: 'NoSchedule' }] }),
        ...(allocatable && { allocatable }),
        ...{ ...times, jobMs, containers: this.#containers },
      },
      AbortSignal.any([this.#power.signal, this.#kubelet.signal]),
    )
  }

  #playAgent(): Promise<void> {
    const { api, clock, random, controlPlaneServers: requests } = this.#around
    return runAgent(
      {
        ...{ api, host: this.#host, clock, random, log: silentLog, nodeName: this.#node.name, version },
        stateDir: '/var/lib/slipway',
        drivers: [controlPlaneDriver(requests), scriptDriver, ...rehearsalDrivers],
        sideTasks: [controlPlaneReporter(requests)],
        obstacle: etcdObstacle(requests),
      },
      this.#power.signal,
    )
  }

  /** All but the operator run as soon as they are started and are gone as soon as they are stopped. */
  readonly #containers: Containers = {
    isRunning: (podUid) => this.#running.has(podUid),
    start: (pod) => {
      this.#running.add(pod.metadata.uid)
      if (pod.spec.containers[0]?.image === 'slipway') this.#startOperator(pod)
    },
    stop: (podUid, _graceMs, gone) => {
      this.#running.delete(podUid)
      const operator = this.#operators.get(podUid)
      if (!operator) return 'gone'
      operator.stop.abort()
      void operator.ended.then(gone)
      return 'waiting'
    },
  }

  /** One that ends, as an operator does that lost its lease, is started again like any container. */
  #startOperator(pod: Pod): void {
    const { api, clock, random } = this.#around
    const { name, uid } = pod.metadata
    const stop = new AbortController()
    const ended = this.#keepRunning(stop.signal, () =>
      runOperator(
        {
          ...{
            api,
            clock,
            random,
            log: silentLog,
            namespace: operatorNamespace,
            version,
            leaseName: 'slipway-operator',
          },
          ...{ identity: `${name}_${random.uuid()}`, podName: name, nodeName: this.#node.name },
        },
        stop.signal,
      ),
    )
    this.#operators.set(uid, { stop, ended })
  }
}
