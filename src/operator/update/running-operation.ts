// An operation that may take nodes: what it wants, its members, and what it claims from the ledger.

import type { DirectUpdateSpec } from '../../api/direct-update.ts'
import type { Node } from '../../api/kube.ts'
import type { NodeState } from '../../api/node-state.ts'
import type { Reason } from '../../api/reason.ts'
import type { Component, Work } from '../../api/work.ts'
import { resolveCount } from '../../core/count.ts'
import { selects } from '../../core/label-selector.ts'
import type { Budget, Claim } from '../../core/ledger/grants.ts'
import { roleOf } from '../../core/node/node-facts.ts'
import { type StagingState, stagingState } from '../../core/node/stage-node.ts'
import { oldestApiServer } from '../../core/plan/plan-update.ts'
import { componentsOf } from '../../core/update/drivers-for.ts'
import { needsStaging } from '../../core/update/needs-staging.ts'
import { type Operation, ownerOfOperation } from '../../core/update/operation.ts'
import type { ProgressView } from '../../core/update/progress.ts'
import { compareVersions } from '../../core/version.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { MemberTable, type Standing } from './member-table.ts'

export interface Slots {
  holderOf(node: string): string | undefined
  /** How many slots the operation holds. */
  heldBy(holder: string): number
}

/** On what terms an operation takes its nodes, and which they are. */
export interface Terms {
  readonly nodeSelector?: DirectUpdateSpec['nodeSelector']
  /** Which nodes it is about, where a selector cannot say it. */
  readonly isMember?: (node: Node) => boolean
  readonly strategy?: DirectUpdateSpec['strategy']
  /** Edits that may be taken over while it runs come with another one. */
  readonly generation: number | undefined
  /** Whether there is anything to do on a node that is selected; absent = by the version it runs. */
  readonly isDone?: (node: Node, state: NodeState | undefined) => boolean
  /** Its one node, where it is for one only. */
  readonly only?: string
  /** Limits of its own on nodes that are away, whatever for. */
  readonly budgets?: readonly Budget[]
  /** Why nothing of it may start now. */
  readonly held?: () => Reason | undefined
  /** Why it is not over though every node is done. */
  readonly ending?: () => Reason | undefined
  /** What is asked of one node, where it differs from node to node. */
  readonly workFor?: (node: string) => Work
}

/** At most so many nodes beyond those under work have staged or do so: downloads must not flood the network. */
const stagingAtMost = 500

/** Components whose version the cluster shows. */
const versioned: ReadonlySet<Component> = new Set(['kubeadm', 'kubelet', 'kubectl'])

export class RunningOperation {
  readonly #cluster: Cluster
  readonly #slots: Slots
  readonly #serverVersion: string
  #terms: Terms
  #operation: Operation
  readonly #startedAt: number
  readonly table: MemberTable
  /** Why its next node waits, as the last pass over the ledger found. */
  waitingFor: Reason | undefined

  constructor(options: {
    readonly cluster: Cluster
    readonly slots: Slots
    readonly serverVersion: string
    readonly terms: Terms
    readonly operation: Operation
    readonly startedAt: Date
    readonly ownNode: string | undefined
  }) {
    this.#cluster = options.cluster
    this.#slots = options.slots
    this.#serverVersion = options.serverVersion
    this.#terms = options.terms
    this.#operation = options.operation
    this.#startedAt = options.startedAt.getTime()
    this.table = new MemberTable({
      standing: (node, state) => this.#standing(node, state),
      staging: (state) => this.#stagingOf(state),
      isOwnNode: (name) => name === options.ownNode,
    })
    const { only } = this.#terms
    if (only !== undefined) this.refresh(only)
    else for (const node of this.#cluster.nodes.values()) this.refresh(node.metadata.name)
  }

  get id(): string {
    return this.#operation.id
  }

  get operation(): Operation {
    return this.#operation
  }

  /** What it is for; the name of its DirectUpdate, where it is one's. */
  get owner(): string {
    return ownerOfOperation(this.id)
  }

  get startedAt(): Date {
    return new Date(this.#startedAt)
  }

  /** Takes over a safe edit: limits and drain settings may change while it runs. True when there was one. */
  adopt(terms: Terms, operation: Operation): boolean {
    const edited = terms.generation !== this.#terms.generation
    this.#terms = terms
    this.#operation = operation
    return edited
  }

  refresh(name: string): boolean {
    if (this.#terms.only !== undefined && this.#terms.only !== name) return false
    return this.table.refresh(name, this.#cluster.nodes.get(name), this.#cluster.states.get(name))
  }

  workFor(node: string): Work {
    return this.#terms.workFor?.(node) ?? this.#operation.work
  }

  get #stages(): boolean {
    return this.#terms.workFor !== undefined || needsStaging(this.#operation.work)
  }

  get #workersAtOnce(): number {
    return resolveCount(this.#terms.strategy?.maxUnavailable ?? 1, this.table.workers)
  }

  /** Nodes that should stage now and have not been asked: always a few ahead of those under work. */
  toStage(): readonly string[] {
    if (!this.#stages || this.#stopped()) return []
    const ahead = Math.min(stagingAtMost, Math.max(2, 2 * this.#workersAtOnce))
    return this.table.nextToStage(ahead)
  }

  /** Whether the node stages for this operation, or should. */
  wantsStaged(name: string): boolean {
    if (this.table.standing(name) !== 'waiting') return false
    return this.table.isStaging(name) || this.toStage().includes(name)
  }

  claim(): Claim {
    const maxUnavailable = this.table.inControlPlaneWave ? 1 : this.#workersAtOnce
    return {
      holder: this.id,
      requests: this.#stages ? this.table.staged() : this.table.candidates(),
      held: this.#held() ?? this.#terms.held?.(),
      budgets: this.#terms.budgets,
      limit: { maxUnavailable, ...this.#counted() },
    }
  }

  /** Who takes nobody away need not wait for those who are away already. */
  #counted(): { readonly counted: number; readonly notReady?: ReadonlySet<string> } {
    const { counted, countedNotReady: notReady } = this.table
    return this.#operation.disruption === 'None' ? { counted: counted - notReady.size } : { counted, notReady }
  }

  progress(): ProgressView {
    return {
      counts: { ...this.table.counts },
      slots: this.#slots.heldBy(this.id),
      stopped: this.#stopped(),
      waitingFor: this.#obstacle() ?? this.#ending(),
    }
  }

  #ending(): Reason | undefined {
    const { waiting, working, attention, failed } = this.table.counts
    return waiting + working + attention + failed === 0 ? this.#terms.ending?.() : undefined
  }

  #obstacle(): Reason | undefined {
    if (this.table.counts.waiting === 0) return undefined
    if (this.waitingFor) return this.waitingFor
    // One that could go is held up by nothing before the next pass over the ledger says so.
    const [candidate] = this.#stages ? this.table.staged() : this.table.candidates()
    if (candidate) return undefined
    const staging = this.table.stagingNames(3)
    if (staging.length > 0) {
      return {
        code: 'NodesStaging',
        message: `${staging.join(', ')} fetch and check what they need before they are drained`,
      }
    }
    const [first] = this.table.notReady(1)
    return first === undefined
      ? undefined
      : { code: 'NodeNotReady', message: `${first} is not Ready; it is worked on when it is back` }
  }

  #stopped(): boolean {
    const { failed, attention } = this.table.counts
    return failed + attention > (this.#terms.strategy?.maxFailures ?? 0) || this.table.controlPlaneBroken
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

  #stagingOf(state: NodeState | undefined): StagingState {
    return state ? stagingState(state, this.id) : 'no'
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
        case 'Staging':
        case 'Pending':
          break
        default:
          return 'working'
      }
    }
    if (held) return 'working'
    if (state?.status?.completed?.includes(this.id)) return 'done'
    const isMember = this.#terms.isMember?.(node) ?? selects(this.#terms.nodeSelector, labels)
    if (!isMember || node.metadata.deletionTimestamp !== undefined) return undefined
    // Creation instants carry whole seconds.
    if (Date.parse(creationTimestamp) > this.#startedAt) return undefined
    const isDone = this.#terms.isDone?.(node, state) ?? this.#isAtTarget(node, state)
    return isDone ? 'skipped' : 'waiting'
  }

  #isAtTarget(node: Node, state: NodeState | undefined): boolean {
    const { kubernetes, ...more } = this.#operation.work
    if (!kubernetes || Object.keys(more).length > 0) return false
    // Of runtimes and etcd the Kubernetes version says nothing: the hosts look for themselves.
    if (!componentsOf(kubernetes).every((component) => versioned.has(component))) return false
    const facts = state?.status?.agent?.facts
    const versions = [
      node.status?.nodeInfo?.kubeletVersion,
      ...(roleOf(node) === 'ControlPlane' && facts ? [facts.apiServer] : []),
    ]
    const target = kubernetes.version.startsWith('v') ? kubernetes.version : `v${kubernetes.version}`
    return versions.every((version) => version === target)
  }
}
