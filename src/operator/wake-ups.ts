// What makes whom look again: changes in the cluster become keys in the controllers' queues.

import type { Node } from '../api/kube.ts'
import type { NodeState } from '../api/node-state.ts'
import { isOwed } from '../core/hooks/decide-hooks.ts'
import { equalJson } from '../core/merge-patch.ts'
import { isUnavailable, roleOf } from '../core/node/node-facts.ts'
import { holdOf, isMarked } from '../core/node/node-marks.ts'
import { hasStopped } from '../core/node/order.ts'
import type { Reconcile } from '../kube/controller.ts'
import { WorkQueue } from '../kube/work-queue.ts'
import type { Cluster } from './cluster/cluster.ts'
import type { LedgerBook } from './ledger/ledger-book.ts'
import type { Controller } from './monitoring/monitoring.ts'
import { isForeign } from './node/act.ts'
import type { OperatorPorts } from './ports.ts'
import type { Operations } from './update/operations.ts'

/** The ledger has one pass for everything that waits, and so have profiles. */
const pass = 'pass'
/** Many changes in the cluster at once are one reason to plan again. */
const replanMs = 500
const workers = { nodes: 32, updates: 2, profiles: 1, grants: 1, schedules: 1 } as const

export class WakeUps {
  readonly queues: Readonly<Record<'nodes' | 'updates' | 'profiles' | 'grants' | 'schedules', WorkQueue>>
  readonly #cluster: Cluster
  readonly #book: LedgerBook
  readonly #operations: Operations
  readonly #owners: { readonly prefix: string; readonly wake: (owner: string) => void }[] = []

  constructor({ clock, random }: OperatorPorts, cluster: Cluster, book: LedgerBook, operations: Operations) {
    const queue = () => new WorkQueue({ clock, random, baseMs: 20, maxMs: 15_000 })
    this.queues = { nodes: queue(), updates: queue(), profiles: queue(), grants: queue(), schedules: queue() }
    this.#cluster = cluster
    this.#book = book
    this.#operations = operations
  }

  /** The controllers that take from these queues. */
  controllers(reconciles: Readonly<Record<keyof WakeUps['queues'], Reconcile>>): readonly Controller[] {
    const names = Object.keys(workers) as (keyof typeof workers)[]
    return names.map((name) => ({
      ...{ name, queue: this.queues[name], reconcile: reconciles[name], workers: workers[name] },
    }))
  }

  node(name: string): void {
    this.queues.nodes.add(name)
  }

  update(name: string): void {
    this.queues.updates.add(name)
  }

  /** Whatever an operation is for. */
  owner(owner: string): void {
    const other = this.#owners.find(({ prefix }) => owner.startsWith(prefix))
    if (other) other.wake(owner)
    else this.update(owner)
  }

  /** Owners with this prefix are not DirectUpdates; they are woken by this. */
  route(prefix: string, wake: (owner: string) => void): void {
    this.#owners.push({ prefix, wake })
  }

  grants(): void {
    this.queues.grants.add(pass)
  }

  /** Profiles are looked at together. */
  profiles(): void {
    this.queues.profiles.add(pass)
  }

  schedules(): void {
    this.queues.schedules.add(pass)
  }

  /** Everything that may have been left half-done, and from now on everything that changes. */
  follow(): void {
    const { nodes, states, updates, profiles, policies } = this.#cluster
    nodes.subscribe((change) => {
      // A budget may have room again by a node that no operation is about.
      if (change.type !== 'changed' || countsOtherwise(change.before, change.object)) this.grants()
      this.nodeChanged(change.key)
    })
    states.subscribe((change) => {
      const before = change.type === 'changed' ? change.before : undefined
      const after = change.type === 'removed' ? undefined : change.object
      // Kubelets wait for the oldest API server, also for one whose node no operation is about.
      if (apiServerOf(before) !== apiServerOf(after)) this.grants()
      this.nodeChanged(change.key)
    })
    updates.subscribe((change) => {
      const { key, object } = change
      this.update(key)
      // What became of a hook lets nodes go, also where the write of it seemed to fail.
      if (change.type === 'changed' && !equalJson(change.before.status?.hooks, object.status?.hooks)) this.grants()
      if (object.metadata.ownerReferences) this.schedules()
    })
    this.#cluster.scheduledUpdates.subscribe(() => this.schedules())
    this.#cluster.updateSchedules.subscribe(() => this.schedules())
    profiles.subscribe(() => this.profiles())
    policies.subscribe((change) => {
      this.grants()
      for (const { owner } of this.#operations.running()) this.owner(owner)
      // The ledger stands on the same object and is written all the time: only what a person writes is news to nodes.
      if (change.type === 'changed' && equalJson(change.before.spec, change.object.spec)) return
      for (const { node } of this.#book.grants) this.node(node)
    })
    for (const { metadata } of nodes.values()) if (this.#concerns(metadata.name)) this.node(metadata.name)
    for (const { metadata } of states.values()) if (this.#concerns(metadata.name)) this.node(metadata.name)
    for (const { metadata } of updates.values()) this.update(metadata.name)
    this.profiles()
    this.schedules()
    this.grants()
  }

  /** The node, its NodeState or its slot is another. */
  nodeChanged(name: string): void {
    if (this.#concerns(name)) this.node(name)
    const grant = this.#book.grantOf(name)
    // The slot of a machine that is gone comes back whether or not an operation still wants slots.
    if (grant && this.#cluster.nodes.get(name)?.metadata.uid !== grant.nodeUID) this.grants()
    for (const operation of this.#operations.running()) {
      if (!operation.refresh(name)) continue
      this.grants()
      this.owner(operation.owner)
    }
    if (this.#cluster.profiles.size > 0 || this.#cluster.states.get(name)?.status?.agent?.profile) {
      this.queues.profiles.addAfter(pass, replanMs)
    }
    for (const update of this.#operations.leaving) this.update(update)
    for (const update of this.#operations.awaiting) this.queues.updates.addAfter(update, replanMs)
  }

  /** Whether there may be anything to do: most nodes are at rest most of the time. */
  #concerns(name: string): boolean {
    const node = this.#cluster.nodes.get(name)
    const state = this.#cluster.states.get(name)
    if (!node || !state || this.#book.grantOf(name) || isMarked(node) || isOwed(state.spec.hooks)) return true
    const { order } = state.spec
    // A node that stages, or was asked to, has an order without a slot.
    if (order && (order.desired === 'Stage' || !hasStopped(order, state))) return true
    return !isAtRest(state) || isForeign(state, node)
  }
}

/** Whether the ledger sees another node than before. */
function countsOtherwise(before: Node, after: Node): boolean {
  if (isUnavailable(before) !== isUnavailable(after) || holdOf(before) !== holdOf(after)) return true
  // An API server that nobody has reported is taken to be as old as its kubelet.
  if (roleOf(after) === 'ControlPlane' && kubeletOf(before) !== kubeletOf(after)) return true
  return !equalJson(before.metadata.labels, after.metadata.labels)
}

function kubeletOf({ status }: Node): string | undefined {
  return status?.nodeInfo?.kubeletVersion
}

/** Only agents of control-plane nodes report one. */
function apiServerOf(state: NodeState | undefined): string | undefined {
  return state?.status?.agent?.facts.apiServer
}

function isAtRest({ status }: NodeState): boolean {
  const phase = status?.rollout?.phase
  return phase === undefined || phase === 'Done'
}
