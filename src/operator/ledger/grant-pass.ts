// One pass over the ledger: slots that come back and slots that go out, in one write.

import type { Node } from '../../api/kube.ts'
import type { Grant, MaintenancePolicy } from '../../api/maintenance-policy.ts'
import type { NodeState } from '../../api/node-state.ts'
import type { Reason } from '../../api/reason.ts'
import type { WorkKind } from '../../api/window.ts'
import { isOwed } from '../../core/hooks/decide-hooks.ts'
import {
  type DatedClaim,
  decideGrants,
  type LedgerView,
  passedOver,
  policyPaused,
  type Verdict,
} from '../../core/ledger/grants.ts'
import type { Budget } from '../../core/ledger/tally.ts'
import { laneOf, servedAt, turnsAfter } from '../../core/ledger/turns.ts'
import { equalJson } from '../../core/merge-patch.ts'
import { cordonOwner, isReady, whyAway } from '../../core/node/node-facts.ts'
import { holdOf } from '../../core/node/node-marks.ts'
import { type Operation, ownerOfOperation } from '../../core/update/operation.ts'
import { isBroken } from '../../core/update/retry.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { ControlPlaneEyes } from '../control-plane/control-plane-eyes.ts'
import type { OperatorPorts } from '../ports.ts'
import type { RunningOperation } from '../update/running-operation.ts'
import { stagingFirst } from '../update/staging-turn.ts'
import { BudgetSets, type BudgetUse } from './budget-sets.ts'
import { changedGrants } from './changed-grants.ts'
import type { ForeignLocks } from './foreign-locks.ts'
import type { LedgerBook } from './ledger-book.ts'
import { type Hours, OpeningHours } from './opening-hours.ts'

type Slot = Pick<Grant, 'node' | 'nodeUID' | 'holder'>

export interface Outcome {
  /** When another pass is due, though nothing changes. */
  readonly againMs: number | undefined
  readonly nodes: readonly string[]
  readonly owners: readonly string[]
  /** The control plane has to be asked before the next of its nodes can go. */
  readonly isAsking: boolean
}

export interface GrantPassParts {
  readonly eyes: ControlPlaneEyes
  readonly locks: ForeignLocks
  /** Why a node may not be taken now, by the operation's gates. */
  readonly gate: (operation: Operation, node: string) => Reason | undefined
  /** When what a slot was given for may go on, whether or not this leader has taken it up yet. */
  readonly hoursOf: (holder: string) => Hours | undefined
}

export class GrantPass {
  readonly #ports: OperatorPorts
  readonly #cluster: Cluster
  readonly #book: LedgerBook
  readonly #gate: (operation: Operation, node: string) => Reason | undefined
  readonly #eyes: ControlPlaneEyes
  readonly #budgets: BudgetSets
  readonly #locks: ForeignLocks
  readonly #hours = new OpeningHours()
  /** Asked in the middle of a decision, too, which goes by the hours of the very policy it writes to. */
  readonly #hoursNow = new OpeningHours()
  readonly #hoursOf: (holder: string) => Hours | undefined
  /** Operations whose nodes wait where they are, if all they do is drain: as the last pass saw it. */
  #heldOver: ReadonlyMap<string, Reason> = new Map()
  readonly #returns = new Map<string, Slot>()
  readonly #regrants = new Map<string, Slot>()

  constructor(
    ports: OperatorPorts,
    cluster: Cluster,
    book: LedgerBook,
    { eyes, locks, gate, hoursOf }: GrantPassParts,
  ) {
    this.#ports = ports
    this.#cluster = cluster
    this.#book = book
    this.#gate = gate
    this.#eyes = eyes
    this.#budgets = new BudgetSets(cluster)
    this.#locks = locks
    this.#hoursOf = hoursOf
    // Those whose slot is still out are noted when it comes back.
    this.#hours.times.recall([...cluster.states.values()].filter(({ metadata }) => !book.grantOf(metadata.name)))
  }

  /** Asks for the slot to go back with the next pass. */
  giveBack(slot: Slot): void {
    const grant = this.#book.grantOf(slot.node)
    const isDone = this.#cluster.states.get(slot.node)?.status?.rollout?.phase === 'Done'
    if (isDone && grant?.holder === slot.holder && !this.#returns.has(slot.node)) {
      this.#hours.times.note(slot.holder, this.#ports.clock.now().getTime() - Date.parse(grant.since))
    }
    this.#returns.set(slot.node, slot)
  }

  /** Whether that slot goes back with the next pass: it is nobody's to begin with. */
  isGoingBack({ node, nodeUID, holder }: Slot): boolean {
    const back = this.#returns.get(node)
    return back?.nodeUID === nodeUID && back.holder === holder
  }

  /** Books a node that is under work without a slot: the ledger was lost, the disruption is real. */
  rebook(slot: Slot): void {
    this.#regrants.set(slot.node, slot)
  }

  isOpen(kind: WorkKind): boolean {
    this.#hoursNow.follow(this.#cluster.policy?.spec ?? {})
    return this.#hoursNow.isOpen(kind, this.#ports.clock.now())
  }

  /** Why nothing of it may begin now, by the policy: it is paused, or no window is open. */
  shut({ hours }: Pick<RunningOperation, 'hours'>): Reason | undefined {
    const spec: MaintenancePolicy['spec'] = this.#cluster.policy?.spec ?? {}
    if (spec.paused) return policyPaused
    this.#hours.follow(spec)
    return hours && this.#hours.shut(hours, this.#ports.clock.now())
  }

  /** How full the budgets are. */
  budgetUse(): Iterable<BudgetUse> {
    return this.#budgets.use(
      this.#cluster.unavailable,
      this.#book.grants.map(({ node }) => node),
    )
  }

  /** Why a node of this operation that only drains waits for the next window as it is. */
  heldOver(holder: string): Reason | undefined {
    const { policy } = this.#cluster
    if (policy?.spec.whenWindowCloses !== 'Hold') return undefined
    this.#hours.follow(policy.spec)
    const hours = this.#hoursOf(holder)
    return hours && this.#hours.shut(hours, this.#ports.clock.now())
  }

  /** Says what changed: nodes whose slot came or went, owners of operations with news. */
  async run(running: () => readonly RunningOperation[], signal: AbortSignal): Promise<Outcome> {
    const since = this.#ports.clock.now().toISOString()
    const returns = new Map([...this.#returns, ...this.#lost()])
    const regrants = [...this.#regrants.values()].map((slot) => ({ ...slot, since }))
    const isOurs = await this.#takeLocks(running(), signal)
    let operations = running()
    let isLate = false
    let verdicts: readonly Verdict[] = []
    // As we knew them, not as they were found: a write that seemed to have failed may have been carried out.
    const before = this.#book.grants
    await this.#book.change((ledger, policy) => {
      // Those that run now: a policy that is gone is waited for, and some are made anew meanwhile.
      operations = running()
      const stagesFirst = stagingFirst(operations, this.#cluster.states, (operation) => this.shut(operation))
      const kept = ledger.grants.filter(({ node, nodeUID, holder }) => {
        const back = returns.get(node)
        return back?.nodeUID !== nodeUID || back.holder !== holder
      })
      const view = { ...this.#view(policy, [...kept, ...regrants]), served: servedAt(ledger.turns) }
      const isPassedOver = passedOver(view)
      for (const operation of operations) {
        operation.passedOver = (node) => isPassedOver(node, operation.id) ?? stagesFirst(node, operation.id)
      }
      const claims = () => operations.map((operation) => this.#claimOf(operation, view.held, policy))
      verdicts = decideGrants(view, claims())
      // Wanted, or named by the policy, only since the locks were looked at: the next pass takes them first.
      const isSafe = isOurs && this.#locks.isFollowing(policy.spec.locks ?? [])
      isLate = !isSafe && verdicts.some(({ verdict }) => verdict === 'granted')
      if (isLate) verdicts = decideGrants({ ...view, locked: lockWanted }, claims())
      const granted = verdicts.flatMap(({ verdict, holder, request }) =>
        verdict === 'granted' ? [{ node: request.node, nodeUID: request.nodeUID, holder, since }] : [],
      )
      const asking = operations.map(({ id }) => laneOf(id))
      const turns = turnsAfter(
        ledger.turns,
        granted.map(({ holder }) => laneOf(holder)),
        asking,
        since,
      )
      return { grants: [...regrants, ...granted], returns: [...returns.values()], turns }
    }, signal)
    for (const [node, slot] of this.#returns) if (returns.get(node) === slot) this.#returns.delete(node)
    for (const { node } of regrants) this.#regrants.delete(node)
    const changed = changedGrants(before, this.#book.grants)
    const owners = new Set(changed.map(({ holder }) => ownerOfOperation(holder)))
    const isAsking = verdicts.some(isUnknown)
    const isEarly = isAsking && this.#eyes.earlyMs() > 0
    for (const operation of operations) {
      const found = verdicts.find((verdict) => verdict.holder === operation.id && verdict.verdict === 'waiting')
      const reason = found && !(isEarly && isUnknown(found)) ? reasonOf(found) : undefined
      if (operation.waitingFor?.message !== reason?.message) owners.add(operation.owner)
      operation.waitingFor = reason
    }
    return {
      nodes: [...changed.map(({ node }) => node), ...this.#holdOver()],
      owners: [...owners],
      isAsking,
      againMs: isLate ? lateMs : this.#hours.againMs(this.#ports.clock.now()),
    }
  }

  /** After the last slot came back, or when the policy names them no more; says when to try again where the write is refused. */
  async giveLocksBack(signal: AbortSignal): Promise<number | undefined> {
    await this.#locks.giveBackLeft(signal)
    if (this.#book.grants.length === 0) await this.#locks.giveBack(signal)
    return this.#locks.standing().againMs
  }

  /** The nodes for which that has changed. */
  #holdOver(): readonly string[] {
    const before = this.#heldOver
    const holders = new Set(this.#book.grants.map(({ holder }) => holder))
    this.#heldOver = new Map(
      [...holders].flatMap((holder) => {
        const reason = this.heldOver(holder)
        return reason ? [[holder, reason] as const] : []
      }),
    )
    return this.#book.grants
      .filter(({ holder }) => before.get(holder)?.message !== this.#heldOver.get(holder)?.message)
      .map(({ node }) => node)
  }

  /** Before the first node goes, and as long as one is away. True when they are ours. */
  async #takeLocks(operations: readonly RunningOperation[], signal: AbortSignal): Promise<boolean> {
    const { policy } = this.#cluster
    await this.#locks.follow(policy?.spec.locks ?? [], signal)
    const { areOurs, closed, isToTryAgain } = this.#locks.standing()
    if (areOurs) return true
    if (!policy || (closed && !isToTryAgain)) return false
    const isWanted = () => {
      const view = this.#view(policy, this.#book.grants)
      const claims = operations.map((operation) => this.#claimOf(operation, view.held, policy))
      return decideGrants(view, claims).some(
        (verdict) => verdict.verdict === 'granted' || (closed && equalJson(reasonOf(verdict), closed)),
      )
    }
    if (this.#book.grants.length === 0 && !isWanted()) return false
    await this.#locks.take(signal)
    return this.#locks.standing().areOurs
  }

  /** Gates are asked node by node, and only for those that nothing else holds up. */
  #claimOf(running: RunningOperation, held: ReadonlyMap<string, string>, { spec }: MaintenancePolicy): DatedClaim {
    const { limit, ...asked } = running.claim()
    // A slot that was booked by a write that seemed to fail, or that is not back yet: it counts, whatever the operation thinks of it.
    const more = [...held].filter(([node, holder]) => holder === running.id && running.isUncounted(node)).length
    const since = running.startedAt.getTime()
    const { operation } = running
    const { hours } = running
    const closed = hours && (() => this.#hours.closed(hours, this.#ports.clock.now()))
    const budgets = operation.kind === 'Maintenance' && !spec.budgets?.length ? oneAtATime : []
    const claim = { ...asked, budgets, limit: { ...limit, counted: limit.counted + more }, since, closed }
    const gate = operation.gates?.length ? this.#gate : undefined
    const requests = function* () {
      for (const request of claim.requests) {
        const { node, role } = request
        yield {
          ...request,
          gate: () => {
            running.lastObstacle(node, role, { isEarly: true })
            return gate?.(operation, node)
          },
          lastly: () => running.lastObstacle(node, role),
        }
      }
    }
    return { ...claim, requests: requests() }
  }

  /** Slots of nodes that were deleted, or replaced by another machine of the same name, and whose hooks owe nothing any more. */
  #lost(): [string, Slot][] {
    const { nodes, states } = this.#cluster
    return this.#book.grants
      .filter(({ node, nodeUID }) => nodes.get(node)?.metadata.uid !== nodeUID)
      .filter(({ node }) => !isOwed(states.get(node)?.spec.hooks))
      .map((grant) => [grant.node, grant])
  }

  /** Of the very policy the answer is written to: an emergency stop that came meanwhile is obeyed. */
  #view(policy: MaintenancePolicy, grants: readonly Grant[]): LedgerView {
    const { unavailable, takingPods, controlPlane, nodes, states } = this.#cluster
    const { foreign, closed: locked } = this.#locks.standing()
    const held = new Map(grants.map(({ node, holder }) => [node, holder]))
    // One that another tool works on goes down as ours do, though it is Ready yet.
    const isAway = (name: string) => held.has(name) || foreign.has(name) || !this.#cluster.isReady(name)
    this.#eyes.beginPass()
    this.#hours.beginPass(policy.spec)
    this.#budgets.follow(policy.spec.budgets ?? [])
    return {
      paused: policy.spec.paused === true,
      budgetsOf: (node) => this.#budgets.of(node),
      unavailable,
      takingPods,
      held,
      foreign,
      locked,
      controlPlaneAway: new Set([...controlPlane].filter(isAway)),
      isOursToPutBack: (name) => isOursToPutBack(nodes.get(name)),
      isBroken: (name) => isBrokenFor(states.get(name), held.get(name)),
      causeOf: (name) => whyAway(nodes.get(name)),
      onHold: (name) => {
        const node = nodes.get(name)
        return node && holdOf(node)
      },
      controlPlaneObstacle: (node, apiAway) => this.#eyes.obstacle(node, apiAway),
    }
  }
}

function isOursToPutBack(node: Node | undefined): boolean {
  return node !== undefined && isReady(node) && cordonOwner(node) !== undefined
}

/** Whether the node failed for who holds it. */
function isBrokenFor(state: NodeState | undefined, holder: string | undefined): boolean {
  const { rollout } = state?.status ?? {}
  return rollout !== undefined && rollout.operationID === holder && isBroken(rollout.phase)
}

const lateMs = 100
/** What hosts ask for, where the policy has no budget: it has an operation for each node, so no operation limits it. */
const oneAtATime: readonly Budget[] = [{ name: 'maintenance', maxUnavailable: 1 }]
const lockWanted: Reason = {
  code: 'ForeignLockHeld',
  message: 'the lock of another tool that the policy names is not ours yet; somebody else may have been faster',
}

function isUnknown(verdict: Verdict): boolean {
  return verdict.verdict === 'waiting' && verdict.reason.code === 'ControlPlaneUnknown'
}

function reasonOf(verdict: Verdict): RunningOperation['waitingFor'] {
  return verdict.verdict === 'waiting' ? verdict.reason : undefined
}
