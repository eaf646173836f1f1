// An operation that may take nodes: what it wants, its members, and what it claims from the ledger.

import type { Node } from '../../api/kube.ts'
import type { NodeState } from '../../api/node-state.ts'
import type { Reason } from '../../api/reason.ts'
import type { Work } from '../../api/work.ts'
import { resolveCount } from '../../core/count.ts'
import { selects } from '../../core/label-selector.ts'
import type { Claim, Request } from '../../core/ledger/grants.ts'
import { equalJson } from '../../core/merge-patch.ts'
import { cordonOwner, type Role, roleOf } from '../../core/node/node-facts.ts'
import { belongsTo } from '../../core/node/order.ts'
import { type StagingState, stagingState } from '../../core/node/stage-node.ts'
import { rollOutOf } from '../../core/profile/operation-id.ts'
import { takesKubeletsAlone } from '../../core/update/drivers-for.ts'
import { needsStaging } from '../../core/update/needs-staging.ts'
import { type Operation, ownerOfOperation } from '../../core/update/operation.ts'
import { isLastStep } from '../../core/update/path-step.ts'
import type { ProgressView } from '../../core/update/progress.ts'
import { isAtTarget, type Standing, standingOf } from '../../core/update/standing.ts'
import { type Strategy, stepWave, strategyOf, type WaveStep, waveLimit } from '../../core/update/waves.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { WaveStanding } from '../hooks/wave-checks.ts'
import type { Hours } from '../ledger/opening-hours.ts'
import type { ServerVersion } from '../server-version.ts'
import { kubeletCeiling } from './kubelet-ceiling.ts'
import { MemberTable } from './member-table.ts'
import { stagedFirst, stagedInTurn } from './staged-requests.ts'
import { brokenOf, leftOutOf, stopOf, waitOf } from './standstill.ts'
import { haltOf, haveMoved, hoursOf, type Terms } from './terms.ts'

export interface Slots {
  holderOf(node: string): string | undefined
  /** How many slots the operation holds. */
  heldBy(holder: string): number
}

/** At most so many nodes that could go next have staged or do so: downloads must not flood the network. */
const stagingAtMost = 500

export class RunningOperation {
  readonly #cluster: Cluster
  readonly #slots: Slots
  readonly #serverVersion: ServerVersion
  #terms: Terms
  #operation: Operation
  #strategy: Strategy
  readonly #startedAt: number
  readonly table: MemberTable
  /** Nodes that could not be taken by what is known of them: whatever they say next may let them. */
  readonly #kept = new Set<string>()
  /** Why its next node waits, as the last pass over the ledger found. */
  waitingFor: Reason | undefined
  /** Why it cannot have a node as things stand, though it may have others, as the last pass over the ledger found. */
  passedOver: (node: string) => Reason | undefined = () => undefined
  /** Why the next step of its path does not begin though this one is done, as the last look at the cluster found. */
  nextStepWaitsFor: Reason | undefined

  constructor(options: {
    readonly cluster: Cluster
    readonly slots: Slots
    readonly serverVersion: ServerVersion
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
    this.#strategy = strategyOf(options.terms.strategy)
    this.#startedAt = options.startedAt.getTime()
    this.table = new MemberTable({
      standing: (node, state) => this.#standing(node, state),
      staging: (node, state) => this.#stagingOf(node, state),
      isTaken: (node, state) => this.#isTaken(node, state),
      isOwnNode: (name) => name === options.ownNode,
      first: () => this.#strategy.first,
    })
    this.#openWave()
    this.#refreshAll()
  }

  #refreshAll(): void {
    const { only } = this.#terms
    if (only !== undefined) this.refresh(only)
    else for (const node of this.#cluster.nodes.values()) this.refresh(node.metadata.name)
  }

  #openWave(): void {
    const { waves } = this.#strategy
    const index = Math.min(this.#terms.wave?.index ?? 0, waves.length - 1)
    this.table.openWave((workers) => waveLimit(waves, index, workers))
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

  /** Takes over a safe edit, and what was recorded since. Says whether what may start is another now. */
  adopt(terms: Terms, operation: Operation): 'edited' | 'moved' | 'same' {
    const before = this.#terms
    const isEdited = terms.generation !== before.generation
    const hasMoved = haveMoved(before, terms) || !equalJson(operation, this.#operation)
    this.#terms = terms
    this.#operation = operation
    if (!isEdited && !hasMoved) return 'same'
    this.#strategy = strategyOf(terms.strategy)
    this.#openWave()
    if (isEdited) this.#refreshAll()
    return isEdited ? 'edited' : 'moved'
  }

  refresh(name: string): boolean {
    if (this.#terms.only !== undefined && this.#terms.only !== name) return false
    const wasKept = this.#kept.delete(name)
    return this.table.refresh(name, this.#cluster.nodes.get(name), this.#cluster.states.get(name)) || wasKept
  }

  #obstacleOf(name: string): Reason | undefined {
    const obstacle = this.#terms.obstacle?.(name)
    if (obstacle) this.#kept.add(name)
    return obstacle
  }

  workFor(node: string): Work {
    const { workFor } = this.#terms
    return workFor?.(node) ?? (workFor && this.#orderedWork(node)) ?? this.#operation.work
  }

  /** What it was last told to fetch or do: for one that is under work when nobody can tell any more. */
  #orderedWork(node: string): Work | undefined {
    const order = this.#cluster.states.get(node)?.spec.order
    return order && belongsTo(order, this.id) ? order.work : undefined
  }

  get #stages(): boolean {
    return this.#terms.workFor !== undefined || needsStaging(this.#operation.work)
  }

  get #workersAtOnce(): number {
    return resolveCount(this.#strategy.maxUnavailable, this.table.workers)
  }

  /** Nodes that should stage now and have not been asked: always a few ahead of those under work. */
  toStage(): readonly string[] {
    if (!this.#stages || haltOf(this.#terms.desired, this.#operation.update) || this.#stop()) return []
    const ahead = Math.min(stagingAtMost, Math.max(2, 2 * this.#workersAtOnce))
    // Where an order of somebody else's stands, none of ours can.
    const may = (name: string) =>
      this.#obstacleOf(name) === undefined && this.passedOver(name)?.code !== 'NodeHeldElsewhere'
    return this.table.nextToStage(ahead, may, (name) => this.passedOver(name) !== undefined)
  }

  /** Whether the node stages for this operation, or should. */
  wantsStaged(name: string): boolean {
    if (this.table.standing(name) !== 'waiting' || this.#operation.cancel !== undefined) return false
    if (this.#obstacleOf(name)) return false
    return this.table.isStaging(name) || this.toStage().includes(name)
  }

  /** Whether it would work on this node next, were it free. */
  wouldTake(name: string): boolean {
    if (!this.table.isNext(name) || this.held() || this.#starting() || this.#obstacleOf(name)) return false
    const node = this.#cluster.nodes.get(name)
    return node !== undefined && !this.lastObstacle(name, roleOf(node))
  }

  /** What is still missing when nothing else stands in the node's way. */
  lastObstacle(name: string, role: Role, { isEarly = false } = {}): Reason | undefined {
    const { hasBegunWorkers } = this.table.reach
    return this.#terms.lastly?.({ role, work: this.workFor(name), hasBegunWorkers, isEarly })
  }

  /** When it may start; undefined when a person said that it goes on at any time. */
  get hours(): Hours | undefined {
    return hoursOf(this.#operation, this.#terms)
  }

  claim(): Claim {
    const maxUnavailable = this.table.inControlPlaneWave ? 1 : this.#workersAtOnce
    return {
      holder: this.id,
      requests: this.#requests(),
      held: this.held(),
      starting: (shut) => this.#starting(shut),
      apiAway: this.#terms.apiAway ?? 'Stated',
      limit: { maxUnavailable, ...this.#counted() },
    }
  }

  /**
   * Whether a node does not count against its limit by how it stands: it waits for its turn, as far as this operation knows, is done
   * or is gone. Its slot counts all the same, until what was done for it has been cleaned up.
   */
  isUncounted(node: string): boolean {
    const standing = this.table.standing(node)
    return standing === undefined || standing === 'waiting' || standing === 'done'
  }

  /** The control plane goes strictly in turn, so that its order can be told beforehand; of the workers, who has staged goes. */
  #requests(): Iterable<Request> {
    if (!this.#stages) return this.table.candidates()
    const obstacles = { own: (name: string) => this.#obstacleOf(name), passedOver: this.passedOver }
    return this.table.inControlPlaneWave ? stagedInTurn(this.table, obstacles) : stagedFirst(this.table, obstacles)
  }

  /** Who takes nobody away need not wait for those who are away already. */
  #counted(): { readonly counted: number; readonly notReady?: ReadonlySet<string> } {
    const { counted, countedNotReady: notReady } = this.table
    return this.#operation.disruption === 'None' ? { counted: counted - notReady.size } : { counted, notReady }
  }

  /** The wave as it is to be recorded; undefined before the first worker's turn. */
  wave(now: Date): WaveStep | undefined {
    if (this.table.inControlPlaneWave || this.table.ranked === 0) return undefined
    const { wave: recorded, approvals = [] } = this.#terms
    return stepWave({
      ...{ recorded, approvals, now, update: this.#operation.update, operationID: this.id },
      waves: this.#strategy.waves,
      workers: this.table.ranked,
      ...{ counts: this.table.wave, inNeed: this.table.inNeed },
      soakGate: (index) => this.#terms.checks?.soaking(this.waveStanding, index + 1),
      gate: (index) => this.#terms.checks?.leaving(this.waveStanding, index + 1),
    })
  }

  /** Where it stands for gates and hooks. */
  get waveStanding(): WaveStanding {
    const { reach, inControlPlaneWave, ranked } = this.table
    const wave = inControlPlaneWave || ranked === 0 ? 0 : (this.#terms.wave?.index ?? 0) + 1
    const isOpen = inControlPlaneWave || this.table.wave.open > 0
    return { operation: this.#operation, ...reach, wave, isOpen }
  }

  /** Whether hooks after the wave, or after all, are due. */
  waveDone(now: Date): { readonly wave: boolean; readonly all: boolean } {
    return { wave: this.wave(now)?.reason?.code === 'HookRunning', all: this.table.isAllDone }
  }

  /** `wave`: its wave now, for those who know it already. */
  progress(now: Date, wave = this.wave(now)): ProgressView {
    const { desired = 'Running' } = this.#terms
    return {
      ...{ update: this.#operation.update, desired, soaking: wave?.soaking ?? false },
      counts: { ...this.table.counts },
      wanted: this.#operation.osImage?.reference,
      ...{ slots: this.#slots.heldBy(this.id), stuckSlots: this.table.stuck },
      stop: this.#stop(),
      waitingFor: this.#obstacle(wave) ?? this.#ending(wave),
      broken: brokenOf(this.table),
      leftOut: leftOutOf(this.table, this.#operation),
      step: this.#operation.step,
    }
  }

  /** Whether all of a step before the last is done, so that the next one may begin. */
  isStepDone(now: Date): boolean {
    if (isLastStep(this.#operation.step) || !this.table.isAllDone || this.#slots.heldBy(this.id) > 0) return false
    if (haltOf(this.#terms.desired, this.#operation.update) || this.#stop()) return false
    const wave = this.wave(now)
    return !wave?.soaking && !wave?.reason && !this.#terms.checks?.ending(this.waveStanding)
  }

  /** Every node is done: what still stands between it and its end. */
  #ending(wave: WaveStep | undefined): Reason | undefined {
    if (!this.table.isAllDone) return undefined
    return wave?.reason ?? this.#terms.checks?.ending(this.waveStanding) ?? this.nextStepWaitsFor
  }

  #obstacle(wave: WaveStep | undefined): Reason | undefined {
    if (this.table.counts.waiting === 0) return undefined
    if (this.#operation.cancel === undefined && wave?.reason) return wave.reason
    if (this.waitingFor) return this.waitingFor
    // One that could go is held up by nothing before the next pass over the ledger says so.
    const [candidate] = this.#stages ? this.table.staged() : this.table.candidates()
    if (candidate) return undefined
    return waitOf(this.table)
  }

  /** Why nothing of it may begin now, whatever the policy says. */
  held(): Reason | undefined {
    const { desired, held } = this.#terms
    return haltOf(desired, this.#operation.update) ?? this.#stop() ?? this.#ceiling() ?? held?.()
  }

  #starting(shut?: Reason): Reason | undefined {
    return this.#terms.checks?.starting({ ...this.waveStanding, held: shut })
  }

  #stop(): Reason | undefined {
    return stopOf(this.table, this.#operation, this.#strategy) ?? this.#terms.expired
  }

  /** Names to be left out that are none of its nodes. */
  unknownSkips(): readonly string[] {
    return [...(this.#operation.skip ?? [])].filter((name) => this.table.standing(name) === undefined)
  }

  #ceiling(): Reason | undefined {
    const { kubernetes } = this.#operation.work
    if (!kubernetes || (this.table.inControlPlaneWave && !takesKubeletsAlone(kubernetes))) return undefined
    return kubeletCeiling(this.#cluster, kubernetes.version, this.#serverVersion)
  }

  #stagingOf(node: Node, state: NodeState | undefined): StagingState {
    // Drained by an operation that is done with it: it is taken over as it is, and stages when it has its order.
    const isHandedOver = cordonOwner(node) !== undefined && state?.status?.rollout?.phase === 'Done'
    if (isHandedOver) return 'ready'
    return state ? stagingState(state, this.id) : 'no'
  }

  #holds(node: string): boolean {
    const holder = this.#slots.holderOf(node)
    return holder !== undefined && rollOutOf(holder) === rollOutOf(this.id)
  }

  #isTaken({ metadata: { name } }: Node, state: NodeState | undefined): boolean {
    const rollout = state?.status?.rollout
    const isOurs = rollout !== undefined && rollOutOf(rollout.operationID) === rollOutOf(this.id)
    return this.#holds(name) || (isOurs && rollout.cordon !== undefined)
  }

  #standing(node: Node, state: NodeState | undefined): Standing | undefined {
    const { isMember, isDone, nodeSelector, takesNewNodes } = this.#terms
    return standingOf(node, state, {
      operation: this.#operation,
      held: this.#holds(node.metadata.name),
      isMember: isMember ?? (({ metadata }) => selects(nodeSelector, metadata.labels)),
      isDone: isDone ?? ((one, its) => isAtTarget(this.#operation, one, its)),
      joinedByMs: takesNewNodes ? undefined : this.#startedAt,
    })
  }
}
