// An operation that may take nodes: what it wants, its members, and what it claims from the ledger.

import type { DirectUpdate } from '../../api/direct-update.ts'
import type { Node } from '../../api/kube.ts'
import type { NodeState } from '../../api/node-state.ts'
import type { Reason } from '../../api/reason.ts'
import { resolveCount } from '../../core/count.ts'
import { selects } from '../../core/label-selector.ts'
import type { Claim } from '../../core/ledger/grants.ts'
import { roleOf } from '../../core/node/node-facts.ts'
import { oldestApiServer } from '../../core/plan/plan-update.ts'
import type { Operation } from '../../core/update/operation.ts'
import type { ProgressView } from '../../core/update/progress.ts'
import { compareVersions } from '../../core/version.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { MemberTable, type Standing } from './member-table.ts'

export interface Slots {
  holderOf(node: string): string | undefined
  /** How many slots the operation holds. */
  heldBy(holder: string): number
}

export class RunningOperation {
  readonly #cluster: Cluster
  readonly #slots: Slots
  readonly #serverVersion: string
  #update: DirectUpdate
  #operation: Operation
  readonly #startedAt: number
  readonly table: MemberTable
  /** Why its next node waits, as the last pass over the ledger found. */
  waitingFor: Reason | undefined

  constructor(options: {
    readonly cluster: Cluster
    readonly slots: Slots
    readonly serverVersion: string
    readonly update: DirectUpdate
    readonly operation: Operation
    readonly startedAt: Date
    readonly ownNode: string | undefined
  }) {
    this.#cluster = options.cluster
    this.#slots = options.slots
    this.#serverVersion = options.serverVersion
    this.#update = options.update
    this.#operation = options.operation
    this.#startedAt = options.startedAt.getTime()
    this.table = new MemberTable({
      standing: (node, state) => this.#standing(node, state),
      isOwnNode: (name) => name === options.ownNode,
    })
    for (const node of this.#cluster.nodes.values()) this.refresh(node.metadata.name)
  }

  get id(): string {
    return this.#operation.id
  }

  get operation(): Operation {
    return this.#operation
  }

  get update(): DirectUpdate {
    return this.#update
  }

  get startedAt(): Date {
    return new Date(this.#startedAt)
  }

  /** Takes over a safe edit: limits and drain settings may change while it runs. True when there was one. */
  adopt(update: DirectUpdate, operation: Operation): boolean {
    const edited = update.metadata.generation !== this.#update.metadata.generation
    this.#update = update
    this.#operation = operation
    return edited
  }

  refresh(name: string): boolean {
    return this.table.refresh(name, this.#cluster.nodes.get(name), this.#cluster.states.get(name))
  }

  claim(): Claim {
    const { strategy } = this.#update.spec
    const maxUnavailable = this.table.inControlPlaneWave
      ? 1
      : resolveCount(strategy?.maxUnavailable ?? 1, this.table.workers)
    return {
      holder: this.id,
      requests: this.table.candidates(),
      held: this.#held(),
      limit: { maxUnavailable, counted: this.table.counted, notReady: this.table.countedNotReady },
    }
  }

  progress(): ProgressView {
    return {
      counts: { ...this.table.counts },
      slots: this.#slots.heldBy(this.id),
      stopped: this.#stopped(),
      waitingFor: this.#obstacle(),
    }
  }

  #obstacle(): Reason | undefined {
    if (this.table.counts.waiting === 0) return undefined
    if (this.waitingFor) return this.waitingFor
    // One that could go is held up by nothing before the next pass over the ledger says so.
    const [candidate] = this.table.candidates()
    if (candidate) return undefined
    const [first] = this.table.notReady(1)
    return first === undefined
      ? undefined
      : { code: 'NodeNotReady', message: `${first} is not Ready; it is worked on when it is back` }
  }

  #stopped(): boolean {
    const { failed, attention } = this.table.counts
    return failed + attention > (this.#update.spec.strategy?.maxFailures ?? 0) || this.table.controlPlaneBroken
  }

  #held(): Reason | undefined {
    if (this.#stopped()) {
      const names = [...this.table.some('failed', 3), ...this.table.some('attention', 3)].join(', ')
      return { code: 'FailuresReached', message: `nothing more starts: ${names} failed` }
    }
    return this.table.inControlPlaneWave ? undefined : this.#kubeletCeiling()
  }

  /** Rule 3, looked at again before every worker: an API server may have joined or lag since the plan. */
  #kubeletCeiling(): Reason | undefined {
    const target = this.#operation.work.kubernetes?.version
    if (target === undefined) return undefined
    const controlPlane = [...this.#cluster.controlPlane].flatMap((name) => this.#cluster.nodes.get(name) ?? [])
    const oldest = oldestApiServer(controlPlane, (name) => this.#cluster.states.get(name), this.#serverVersion)
    if (compareVersions(target, oldest) <= 0) return undefined
    return {
      code: 'KubeletWouldBeNewer',
      message: `the oldest API server runs ${oldest}; a kubelet must not be newer (${target})`,
    }
  }

  #standing(node: Node, state: NodeState | undefined): Standing | undefined {
    const { name, creationTimestamp, labels } = node.metadata
    const held = this.#slots.holderOf(name) === this.id
    const rollout = state?.status?.rollout
    if (rollout?.operationID === this.id) {
      switch (rollout.phase) {
        case 'Done':
          return 'done'
        case 'Failed':
          return 'failed'
        case 'RequiresAttention':
          return 'attention'
        default:
          return 'working'
      }
    }
    if (held) return 'working'
    if (state?.status?.completed?.includes(this.id)) return 'done'
    if (!selects(this.#update.spec.nodeSelector, labels) || node.metadata.deletionTimestamp !== undefined)
      return undefined
    // Creation instants carry whole seconds.
    if (Date.parse(creationTimestamp) > this.#startedAt) return undefined
    return this.#isAtTarget(node, state) ? 'skipped' : 'waiting'
  }

  #isAtTarget(node: Node, state: NodeState | undefined): boolean {
    const { kubernetes, script } = this.#operation.work
    if (!kubernetes || script) return false
    const facts = state?.status?.agent?.facts
    const versions = [
      node.status?.nodeInfo?.kubeletVersion,
      ...(roleOf(node) === 'ControlPlane' && facts ? [facts.apiServer] : []),
    ]
    const target = kubernetes.version.startsWith('v') ? kubernetes.version : `v${kubernetes.version}`
    return versions.every((version) => version === target)
  }
}
