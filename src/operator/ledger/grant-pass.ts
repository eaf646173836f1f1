// One pass over the ledger: slots that come back and slots that go out, in one write.

import type { Grant, MaintenancePolicy } from '../../api/maintenance-policy.ts'
import type { Reason } from '../../api/reason.ts'
import { type DatedClaim, decideGrants, type LedgerView, type Verdict } from '../../core/ledger/grants.ts'
import { laneOf, servedAt, turnsAfter } from '../../core/ledger/turns.ts'
import { whyAway } from '../../core/node/node-facts.ts'
import { type Operation, ownerOfOperation } from '../../core/update/operation.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { OperatorPorts } from '../ports.ts'
import type { RunningOperation } from '../update/running-operation.ts'
import { BudgetSets } from './budget-sets.ts'
import type { LedgerBook } from './ledger-book.ts'

type Slot = Pick<Grant, 'node' | 'nodeUID' | 'holder'>

export interface Outcome {
  readonly nodes: readonly string[]
  readonly owners: readonly string[]
}

export class GrantPass {
  readonly #ports: OperatorPorts
  readonly #cluster: Cluster
  readonly #book: LedgerBook
  readonly #gate: (operation: Operation, node: string) => Reason | undefined
  readonly #budgets: BudgetSets
  readonly #returns = new Map<string, Slot>()
  readonly #regrants = new Map<string, Slot>()

  constructor(
    ports: OperatorPorts,
    cluster: Cluster,
    book: LedgerBook,
    gate: (operation: Operation, node: string) => Reason | undefined,
  ) {
    this.#ports = ports
    this.#cluster = cluster
    this.#book = book
    this.#gate = gate
    this.#budgets = new BudgetSets(cluster)
  }

  /** Asks for the slot to go back with the next pass. */
  giveBack(slot: Slot): void {
    this.#returns.set(slot.node, slot)
  }

  /** Books a node that is under work without a slot: the ledger was lost, the disruption is real. */
  rebook(slot: Slot): void {
    this.#regrants.set(slot.node, slot)
  }

  /** Says what changed: nodes whose slot came or went, owners of operations with news. */
  async run(operations: readonly RunningOperation[], signal: AbortSignal): Promise<Outcome> {
    const since = this.#ports.clock.now().toISOString()
    const returns = new Map([...this.#returns, ...this.#lost()])
    const regrants = [...this.#regrants.values()].map((slot) => ({ ...slot, since }))
    let verdicts: readonly Verdict[] = []
    // As we knew them, not as they were found: a write that seemed to have failed may have been carried out.
    const before = this.#book.grants
    await this.#book.change((ledger, policy) => {
      const kept = ledger.grants.filter(({ node, nodeUID, holder }) => {
        const back = returns.get(node)
        return back?.nodeUID !== nodeUID || back.holder !== holder
      })
      const view = { ...this.#view(policy, [...kept, ...regrants]), served: servedAt(ledger.turns) }
      verdicts = decideGrants(
        view,
        operations.map((operation) => this.#claimOf(operation)),
      )
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
    for (const operation of operations) {
      const reason = reasonFor(operation.id, verdicts)
      if (operation.waitingFor?.message !== reason?.message) owners.add(operation.owner)
      operation.waitingFor = reason
    }
    return { nodes: changed.map(({ node }) => node), owners: [...owners] }
  }

  /** Gates are asked node by node, and only for those that nothing else holds up. */
  #claimOf(running: RunningOperation): DatedClaim {
    const claim = { ...running.claim(), since: running.startedAt.getTime() }
    const { operation } = running
    if (!operation.gates?.length) return claim
    const gate = this.#gate
    const requests = function* () {
      for (const request of claim.requests) yield { ...request, gate: () => gate(operation, request.node) }
    }
    return { ...claim, requests: requests() }
  }

  /** Slots of nodes that were deleted, or replaced by another machine of the same name. */
  #lost(): [string, Slot][] {
    return this.#book.grants
      .filter(({ node, nodeUID }) => this.#cluster.nodes.get(node)?.metadata.uid !== nodeUID)
      .map((grant) => [grant.node, grant])
  }

  /** Of the very policy the answer is written to: an emergency stop that came meanwhile is obeyed. */
  #view(policy: MaintenancePolicy, grants: readonly Grant[]): LedgerView {
    const { unavailable, controlPlane, nodes } = this.#cluster
    const held = new Map(grants.map(({ node, holder }) => [node, holder]))
    this.#budgets.follow(policy.spec.budgets ?? [])
    return {
      paused: policy.spec.paused === true,
      budgetsOf: (node) => this.#budgets.of(node),
      unavailable,
      held,
      controlPlaneAway: new Set([...controlPlane].filter((name) => held.has(name) || !this.#cluster.isReady(name))),
      causeOf: (name) => whyAway(nodes.get(name)),
    }
  }
}

function reasonFor(holder: string, verdicts: readonly Verdict[]): RunningOperation['waitingFor'] {
  const waiting = verdicts.find((verdict) => verdict.holder === holder && verdict.verdict === 'waiting')
  return waiting?.verdict === 'waiting' ? waiting.reason : undefined
}

function changedGrants(before: readonly Grant[], after: readonly Grant[]): readonly Grant[] {
  // Most passes book nothing, and then it is the very same list.
  if (before === after) return []
  const key = ({ node, nodeUID, holder }: Grant) => `${node} ${nodeUID} ${holder}`
  const old = new Set(before.map(key))
  const now = new Set(after.map(key))
  return [...before.filter((grant) => !now.has(key(grant))), ...after.filter((grant) => !old.has(key(grant)))]
}
