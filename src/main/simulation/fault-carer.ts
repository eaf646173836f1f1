// Who looks after what fails in a crowded history: repairs the cause, then does what the messages say. An update or a profile is tried
// again; a node that failed for something nobody can try again is released.

import { type DirectUpdate, directUpdates } from '../../api/direct-update.ts'
import { holdAnnotation } from '../../api/hold.ts'
import { nodes } from '../../api/kube.ts'
import { type NodeProfile, nodeProfiles } from '../../api/node-profile.ts'
import { type NodeState, nodeStates } from '../../api/node-state.ts'
import { releasingPatch, workDoubt } from '../../core/steering/hold-node.ts'
import type { KubeApi } from '../../ports/kube-api.ts'
import type { SimCluster } from '../../sim/sim-cluster.ts'

/** How long something may be wrong before they come. */
const patienceMs = 45_000

export interface CarerOptions {
  readonly cluster: SimCluster
  readonly api: KubeApi
  /** Mends what makes scripts fail. */
  readonly repair: () => void
  readonly signal: AbortSignal
}

export class Carer {
  readonly #options: CarerOptions
  /** What is wrong, since when; it begins anew with each thing done about it. */
  readonly #wrong = new Map<string, number>()
  #tokens = 0

  constructor(options: CarerOptions) {
    this.#options = options
  }

  async look(): Promise<void> {
    const { cluster } = this.#options
    for (const { metadata, spec, status } of cluster.server.peekAll(directUpdates)) {
      const isWrong = status?.phase === 'Failed' || status?.phase === 'RequiresAttention'
      // Who is left out is not tried again unless it is named.
      const leftOut = (status?.nodes ?? []).filter(({ name, phase }) => phase === 'Failed' && spec.skip?.includes(name))
      const isMeant = spec.desiredState !== 'Cancelled' && metadata.deletionTimestamp === undefined
      if (this.#isDue(`update ${metadata.name}`, isWrong && isMeant))
        await this.#tryAgain(directUpdates, metadata.name, leftOut)
    }
    for (const { metadata, status } of cluster.server.peekAll(nodeProfiles)) {
      const isWrong = (status?.nodes?.failed ?? 0) > 0
      if (this.#isDue(`profile ${metadata.name}`, isWrong)) await this.#tryAgain(nodeProfiles, metadata.name)
    }
    for (const state of cluster.server.peekAll(nodeStates)) {
      if (this.#isDue(`node ${state.metadata.name}`, this.#isLeftAlone(state))) await this.#release(state)
    }
  }

  /** It failed, and nothing can be tried again for it. */
  #isLeftAlone({ status }: NodeState): boolean {
    const { rollout } = status ?? {}
    if (rollout?.phase !== 'Failed' && rollout?.phase !== 'RequiresAttention') return false
    if (rollout.kind === 'Maintenance') return true
    if (rollout.kind === 'NodeProfile')
      return this.#options.cluster.server.peek(nodeProfiles, { name: rollout.update }) === undefined
    const update = this.#options.cluster.server.peek(directUpdates, { name: rollout.update })
    const phase = update?.status?.phase
    return phase === 'Cancelled' || (phase === 'Failed' && update?.spec.desiredState === 'Cancelled')
  }

  #isDue(what: string, isWrong: boolean): boolean {
    const nowMs = this.#options.cluster.clock.monotonicMs()
    const sinceMs = this.#wrong.get(what)
    if (isWrong && (sinceMs === undefined || nowMs - sinceMs < patienceMs)) {
      this.#wrong.set(what, sinceMs ?? nowMs)
      return false
    }
    this.#wrong.delete(what)
    return isWrong
  }

  async #tryAgain(
    type: typeof directUpdates | typeof nodeProfiles,
    name: string,
    leftOut: readonly { readonly name: string }[] = [],
  ): Promise<void> {
    const { api, repair, signal } = this.#options
    repair()
    const named = leftOut.length > 0 ? leftOut.map((one) => one.name) : null
    const body = { spec: { retry: { token: `care-${++this.#tokens}`, nodes: named } } }
    await api.patch<DirectUpdate | NodeProfile>(type, { name }, { type: 'merge', body }, signal)
  }

  /** As `slipway release` does, but for what another person holds. */
  async #release(state: NodeState): Promise<void> {
    const { cluster, api, signal } = this.#options
    const { name } = state.metadata
    const node = cluster.server.peek(nodes, { name })
    if (!node || node.metadata.annotations?.[holdAnnotation] !== undefined) return
    if (workDoubt(name, state) !== undefined) return
    const body = releasingPatch(node, state)
    if (body) await api.patch(nodes, { name }, { type: 'merge', body }, signal)
  }
}
