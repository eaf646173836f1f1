// What is told of updates and of what waits, when somebody scrapes.

import { updatePhases } from '../../api/direct-update.ts'
import { isReasonCode, type ReasonCode } from '../../api/reason.ts'
import { isInGoodOrder } from '../../core/drain/in-good-order.ts'
import { isEndedPhase } from '../../core/update/operation.ts'
import type { Sample } from '../../ports/metrics.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { Count } from './count.ts'

const nodeStates = ['done', 'working', 'waiting', 'failed', 'skipped'] as const

export function* updateSamples(cluster: Cluster, now: Date): Generator<Sample> {
  const phases = new Count(updatePhases)
  const nodes = new Count(nodeStates)
  const gates = new Count<'Waiting' | 'Failed'>(['Waiting', 'Failed'])
  const waits = new Waits(now)
  let total = 0
  let approvals = 0
  for (const { status } of cluster.updates.values()) {
    const phase = status?.phase ?? 'Pending'
    phases.add(phase)
    if (isEndedPhase(phase)) continue
    for (const state of nodeStates) nodes.add(state, status?.summary?.[state] ?? 0)
    total += status?.summary?.total ?? 0
    if (status?.wave?.promotion === 'Wanted') approvals++
    for (const { state } of status?.gates ?? []) gates.add(state)
    const said = status?.conditions?.find(
      ({ type, status: holds, reason }) =>
        (type === 'Blocked' && holds === 'True') || (type === 'Planned' && holds === 'False' && isReasonCode(reason)),
    )
    if (said) waits.add(said.reason, said.lastTransitionTime)
  }
  const pods = new Count<ReasonCode>()
  for (const { node } of cluster.policy?.status?.ledger?.grants ?? []) {
    const rollout = cluster.states.get(node)?.status?.rollout
    if (rollout?.reason && !isInGoodOrder(rollout.reason))
      waits.add(rollout.reason.code, rollout.reason.since ?? rollout.since)
    for (const { reason } of rollout?.drain?.pods ?? []) pods.add(reason.code)
  }
  for (const [phase, value] of phases) yield { name: 'slipway_updates', labels: { phase }, value }
  for (const [state, value] of nodes) yield { name: 'slipway_update_nodes', labels: { state }, value }
  const ended = nodes.of('done') + nodes.of('skipped')
  yield { name: 'slipway_update_progress_ratio', labels: {}, value: total === 0 ? 1 : ended / total }
  yield { name: 'slipway_approvals_wanted', labels: {}, value: approvals }
  for (const [state, value] of gates) yield { name: 'slipway_gates_standing', labels: { state }, value }
  for (const [code, value] of pods) yield { name: 'slipway_drain_blocking_pods', labels: { code }, value }
  yield* waits.samples()
}

/** How many wait for what, and the longest of each. */
class Waits {
  readonly #nowMs: number
  readonly #counts = new Count<ReasonCode>()
  readonly #longest = new Count<ReasonCode>()

  constructor(now: Date) {
    this.#nowMs = now.getTime()
  }

  add(code: string, since: string): void {
    if (!isReasonCode(code)) return
    this.#counts.add(code)
    this.#longest.raise(code, Math.max(0, (this.#nowMs - Date.parse(since)) / 1000))
  }

  *samples(): Generator<Sample> {
    for (const [code, value] of this.#counts) yield { name: 'slipway_waiting', labels: { code }, value }
    for (const [code, value] of this.#longest) yield { name: 'slipway_longest_wait_seconds', labels: { code }, value }
  }
}
