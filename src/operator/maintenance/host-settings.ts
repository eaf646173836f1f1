// What the policy, or a person who asks for a log, wants of a host besides orders: kept in the spec of its NodeState.

import type { MaintenancePolicySpec } from '../../api/maintenance-policy.ts'
import { type LogQuestion, logQuestionSchema, logsAnnotation, type NodeState } from '../../api/node-state.ts'
import { sentinelFiles } from '../../core/maintenance/wish.ts'
import { equalJson, mergePatch } from '../../core/merge-patch.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { patchState } from '../node/act.ts'
import type { OperatorPorts } from '../ports.ts'

/** An answer is kept this long; it stands in every copy of the object. */
const keepLogMs = 5 * 60_000

export class HostSettings {
  readonly #ports: OperatorPorts
  readonly #cluster: Cluster
  readonly #askedAtMs = new Map<string, number>()

  constructor(ports: OperatorPorts, cluster: Cluster) {
    this.#ports = ports
    this.#cluster = cluster
  }

  /** Makes the spec say it; returns when to look again. */
  async sync(state: NodeState, policy: MaintenancePolicySpec, signal: AbortSignal): Promise<number | undefined> {
    const asked = state.metadata.annotations?.[logsAnnotation]
    const logs = asked === undefined ? this.#keptQuestion(state) : this.#parse(asked, state)
    const { sentinels, history } = state.spec
    const before = { sentinels, history, logs: state.spec.logs }
    const after = { sentinels: sentinelFiles(policy), history: historyOf(policy), logs }
    if (!equalJson(before, after) || asked !== undefined) {
      const spec = mergePatch(before, after)
      const metadata = asked === undefined ? {} : { metadata: { annotations: { [logsAnnotation]: null } } }
      await patchState(this.#ports.api, this.#cluster, state, { ...metadata, ...(spec ? { spec } : {}) }, signal)
    }
    return logs && keepLogMs
  }

  /** A question is taken back when its time is over, whether or not it was answered. */
  #keptQuestion({ spec }: NodeState): LogQuestion | undefined {
    if (!spec.logs) return undefined
    const nowMs = this.#ports.clock.monotonicMs()
    const sinceMs = this.#askedAtMs.get(spec.logs.request) ?? nowMs
    this.#askedAtMs.set(spec.logs.request, sinceMs)
    if (nowMs - sinceMs < keepLogMs) return spec.logs
    this.#askedAtMs.delete(spec.logs.request)
    return undefined
  }

  #parse(text: string, { metadata, spec }: NodeState): LogQuestion | undefined {
    const parsed = logQuestionSchema.safeParse(json(text))
    if (parsed.success) return parsed.data
    this.#ports.log.warn('a request for a log cannot be read and is dropped', { node: metadata.name, text })
    return spec.logs
  }
}

function historyOf({ history }: MaintenancePolicySpec): NodeState['spec']['history'] {
  return history && { keepOperations: history.keepOperations ?? 20, keepFor: history.keepFor ?? '720h' }
}

function json(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
