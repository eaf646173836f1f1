// An onlooker with a watch of its own: what the nodes went through, event by event, whatever our own status says of it.

import { expect, vi } from 'vitest'
import { SystemClock } from '../../src/adapters/clock/system-clock.ts'
import { SystemRandom } from '../../src/adapters/random/system-random.ts'
import { type Node, nodes } from '../../src/api/kube.ts'
import { Reflector } from '../../src/kube/reflector.ts'
import { Store } from '../../src/kube/store.ts'
import type { KubeApi } from '../../src/ports/kube-api.ts'
import { RecordingLog } from '../fakes/recording-log.ts'

const controlPlaneLabel = 'node-role.kubernetes.io/control-plane'

export interface Sight {
  readonly node: string
  readonly controlPlane: boolean
  readonly change: 'away' | 'back'
  readonly version: string
  /** How many nodes, and how many of the control plane, are away now. */
  readonly away: number
  readonly controlPlaneAway: number
}

export class NodeObserver {
  readonly sights: Sight[] = []
  readonly #api: KubeApi
  readonly #store = new Store<Node>()
  readonly #stop = new AbortController()
  readonly #reflector: Reflector<Node>
  readonly #away = new Map<string, boolean>()
  #running: Promise<void> | undefined

  constructor(api: KubeApi) {
    this.#api = api
    this.#store.subscribe(({ key, type, object }) => this.#see(key, type === 'removed' ? undefined : object))
    this.#reflector = new Reflector({
      ...{ api, type: nodes, selection: {}, store: this.#store },
      ...{ clock: new SystemClock(), random: new SystemRandom(), log: new RecordingLog() },
    })
  }

  async start(): Promise<void> {
    this.#running = this.#reflector.run(this.#stop.signal)
    await this.#reflector.synced(this.#stop.signal)
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#running
  }

  /** Resolves when it has seen of each node what the API server knows now: its watch comes after what others read. */
  async catchUp(): Promise<void> {
    await vi.waitFor(
      async () => {
        const { items } = await this.#api.list(nodes, {}, this.#stop.signal)
        const behind = items.filter(({ metadata }) => BigInt(metadata.resourceVersion) > this.#versionOf(metadata.name))
        expect(behind.map(({ metadata }) => metadata.name)).toEqual([])
        expect(this.nodes()).toHaveLength(items.length)
      },
      { timeout: 60_000, interval: 100 },
    )
  }

  nodes(): readonly Node[] {
    return [...this.#store.values()]
  }

  node(name: string): Node | undefined {
    return this.#store.get(name)
  }

  /** Nodes that run that version and can take pods. */
  done(version: string): number {
    return this.nodes().filter((node) => !isAway(node) && node.status?.nodeInfo?.kubeletVersion === version).length
  }

  cordoned(): readonly string[] {
    return this.nodes().flatMap(({ metadata, spec }) => (spec.unschedulable === true ? [metadata.name] : []))
  }

  #versionOf(name: string): bigint {
    return BigInt(this.node(name)?.metadata.resourceVersion ?? 0)
  }

  #see(name: string, node: Node | undefined): void {
    const before = this.#away.has(name)
    const after = node !== undefined && isAway(node)
    if (before === after) return
    const controlPlane = this.#away.get(name) ?? (node !== undefined && isControlPlane(node))
    if (after) this.#away.set(name, controlPlane)
    else this.#away.delete(name)
    this.sights.push({
      node: name,
      controlPlane,
      change: after ? 'away' : 'back',
      version: node?.status?.nodeInfo?.kubeletVersion ?? '',
      away: this.#away.size,
      controlPlaneAway: [...this.#away.values()].filter((member) => member).length,
    })
  }
}

function isControlPlane({ metadata }: Node): boolean {
  return metadata.labels !== undefined && controlPlaneLabel in metadata.labels
}

function isAway({ spec, status }: Node): boolean {
  const ready = status?.conditions?.some(({ type, status: holds }) => type === 'Ready' && holds === 'True') ?? false
  return spec.unschedulable === true || !ready
}
