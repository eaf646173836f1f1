// A DirectUpdate as a story speaks of it.

import { createHash } from 'node:crypto'
import {
  type DirectUpdate,
  type DirectUpdateSpec,
  type DirectUpdateStatus,
  directUpdates,
  type UpdateCondition,
  type UpdatePhase,
} from '../../src/api/direct-update.ts'
import { configMaps } from '../../src/api/kube.ts'
import { isKubeError } from '../../src/api/kube-error.ts'
import { nodeStates } from '../../src/api/node-state.ts'
import { retry } from '../../src/core/steering/decide-steering.ts'
import type { KubeApi } from '../../src/ports/kube-api.ts'
import { operatorNamespace } from '../../src/sim/workloads.ts'
import type { StoryCluster } from './story-cluster.ts'

type Wishes = Partial<DirectUpdateSpec> & { readonly name?: string }

/** Stories of drains that hang begin where these checks would not let them; stories of preflight say what they skip. */
const budgetChecks = ['DisruptionBudgets', 'PodsUnderTwoBudgets'] as const

/** Creates updates; each is told of by its name, `update` where none is given. */
export class Updates {
  readonly #cluster: StoryCluster
  readonly #api: KubeApi
  readonly #signal: AbortSignal

  constructor(cluster: StoryCluster, api: KubeApi, signal: AbortSignal) {
    this.#cluster = cluster
    this.#api = api
    this.#signal = signal
  }

  /** With a ConfigMap named by its content, as the command line makes it. */
  script(text: string, wishes: Wishes = {}): StoryUpdate {
    const script = scriptOf(text)
    return this.of({ script, ...wishes }, () => this.keepScript(text))
  }

  kubernetes(version: string, wishes: Wishes = {}): StoryUpdate {
    return this.of({ kubernetes: { version }, ...wishes })
  }

  /** The ConfigMap alone. */
  async keepScript(text: string): Promise<void> {
    const metadata = { name: scriptOf(text).configMap, namespace: operatorNamespace }
    try {
      await this.#api.create(configMaps, { metadata, data: { script: text } }, this.#signal)
    } catch (error) {
      if (!isKubeError(error, 'AlreadyExists')) throw error
    }
  }

  /** As a person may write it, sensible or not. */
  of({ name = 'update', ...wished }: Wishes, prepare: () => Promise<void> = async () => {}): StoryUpdate {
    const { apiVersion, kind } = directUpdates
    const spec = { preflight: { skip: [...budgetChecks] }, ...wished }
    const created = prepare().then(() =>
      this.#api.create(directUpdates, { apiVersion, kind, metadata: { name }, spec }, this.#signal),
    )
    return new StoryUpdate(this.#cluster, this.#api, name, created, this.#signal)
  }
}

export function scriptOf(text: string): { readonly configMap: string; readonly sha256: string } {
  const sha256 = createHash('sha256').update(text).digest('hex')
  return { configMap: `script-${sha256.slice(0, 8)}`, sha256 }
}

export class StoryUpdate {
  readonly name: string
  readonly #cluster: StoryCluster
  readonly #api: KubeApi
  readonly #created: Promise<unknown>
  readonly #signal: AbortSignal

  constructor(cluster: StoryCluster, api: KubeApi, name: string, created: Promise<unknown>, signal: AbortSignal) {
    this.#cluster = cluster
    this.#api = api
    this.name = name
    this.#created = created
    this.#signal = signal
  }

  get object(): DirectUpdate | undefined {
    return this.#cluster.sim.server.peek(directUpdates, { name: this.name })
  }

  get status(): DirectUpdateStatus {
    return this.object?.status ?? {}
  }

  condition(type: string): UpdateCondition | undefined {
    return this.status.conditions?.find((condition) => condition.type === type)
  }

  async starts(): Promise<this> {
    await this.#created
    await this.#cluster.until(`${this.name} takes a node`, () => this.#cluster.taken.length > 0)
    return this
  }

  async succeeds(): Promise<this> {
    return this.is('Succeeded')
  }

  async fails(): Promise<this> {
    return this.is('Failed')
  }

  /** Until it is in this phase, for this reason where one is named: of a refused plan, a wait, or a failure. */
  async is(phase: UpdatePhase, reason?: string): Promise<this> {
    await this.#created
    await this.#cluster.until(`${this.name} is ${phase} ${reason ?? ''}`, () => {
      if (this.status.phase !== phase || this.status.observedGeneration !== this.object?.metadata.generation)
        return false
      return reason === undefined || this.#reasons().includes(reason)
    })
    return this
  }

  /** Until so many nodes are done. */
  async hasDone(nodes: number): Promise<this> {
    await this.#created
    await this.#cluster.until(`${nodes} nodes are done`, () => (this.status.summary?.done ?? 0) >= nodes)
    return this
  }

  async isEdited(spec: Partial<DirectUpdateSpec>): Promise<this> {
    await this.#created
    await this.#api.patch(directUpdates, { name: this.name }, { type: 'merge', body: { spec } }, this.#signal)
    return this
  }

  /** As `slipway retry` says it: without names a word for some nodes is taken back. */
  async isRetried(token: string, nodes: readonly string[] | null = null): Promise<this> {
    const body = { spec: { retry: { token, nodes } } }
    await this.#api.patch(directUpdates, { name: this.name }, { type: 'merge', body }, this.#signal)
    return this
  }

  /** As `slipway retry NAME NODE…` says it, with what was said before. */
  async isRetriedFor(token: string, ...nodes: readonly string[]): Promise<this> {
    const { server } = this.#cluster.sim
    const found = this.object
    if (!found) throw new Error(`there is no ${this.name}`)
    const { spec } = retry(nodes, token, server.peekAll(nodeStates))(found)
    return this.isEdited(spec as Partial<DirectUpdateSpec>)
  }

  async isDeleted(): Promise<this> {
    await this.#created
    await this.#api.delete(directUpdates, { name: this.name }, {}, this.#signal)
    return this
  }

  async isGone(): Promise<void> {
    await this.#cluster.until(`${this.name} is gone`, () => this.object === undefined)
  }

  #reasons(): readonly string[] {
    const planned = this.condition('Planned')
    const held = (['Blocked', 'Failed'] as const).flatMap((type) => this.condition(type) ?? [])
    return [
      ...(planned?.status === 'False' ? [planned.reason] : []),
      ...held.filter(({ status }) => status === 'True').map(({ reason }) => reason),
    ]
  }
}
