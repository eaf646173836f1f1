// What is remembered of a node while it is under work, and can be lost at any moment: its watches, and a write that waits.

import type { NodeState } from '../../api/node-state.ts'
import type { Controllers, NodeAction } from '../../core/node/node-view.ts'
import { type DrainStep, type DrainTools, NodeDrain, type StepReport } from '../drain/node-drain.ts'
import type { OperatorPorts } from '../ports.ts'
import { LeaseWatch } from './lease-watch.ts'

export interface AttentionOptions {
  readonly ports: OperatorPorts
  readonly drains: DrainTools
  readonly wake: (node: string) => void
  readonly signal: AbortSignal
}

const leaseNamespace = 'kube-node-lease'
const controllersLease = { namespace: 'kube-system', name: 'kube-controller-manager' }
/** A Lease that is not there was never renewed. */
const never = new Date(0).toISOString()

const patienceMs = 2_000
/** The same reason with other pods is told again at most this often. */
const repeatMs = 15_000

export class Attention {
  readonly #node: string
  readonly #options: AttentionOptions
  #drain: NodeDrain | undefined
  #lease: LeaseWatch | undefined
  #controllers: LeaseWatch | undefined
  /** The node is healthy: its gates are asked from now on. */
  asksGates = false
  /** A rollout that is written only if it lasts, and since when it was wanted. */
  #unhurried: { readonly what: string; readonly sinceMs: number } | undefined

  constructor(node: string, options: AttentionOptions) {
    this.#node = node
    this.#options = options
  }

  watchPods(): NodeDrain {
    const { wake, drains, signal } = this.#options
    this.#drain ??= new NodeDrain(drains, this.#node, () => wake(this.#node), signal)
    return this.#drain
  }

  /** Undefined while the pods are not known, or the node is not this operation's yet. */
  async stepDrain(
    step: Omit<DrainStep, 'rollout'>,
    state: NodeState,
    signal: AbortSignal,
  ): Promise<StepReport | undefined> {
    const rollout = state.status?.rollout
    if (!this.#drain?.isSynced || rollout?.operationID !== step.operation.id) return undefined
    return this.#drain.step({ ...step, rollout }, signal)
  }

  get podsUnknown(): string | undefined {
    return this.#drain?.unknown
  }

  stopDrain(): void {
    this.#drain?.stop()
    this.#drain = undefined
  }

  /** Resolves when the Lease is known, or `leaseUnknown` says why it is not. */
  async watchLease(signal: AbortSignal): Promise<void> {
    this.#lease ??= this.#openLeaseWatch({ namespace: leaseNamespace, name: this.#node })
    await this.#lease.learn(signal)
  }

  async watchControllers(signal: AbortSignal): Promise<void> {
    this.#controllers ??= this.#openLeaseWatch(controllersLease)
    await this.#controllers.learn(signal)
  }

  get leaseUnknown(): string | undefined {
    return this.#lease?.unknown
  }

  get controllersUnknown(): string | undefined {
    return this.#controllers?.unknown
  }

  /** Undefined while they are not known; a cluster whose controllers elect nobody has no such Lease. */
  get controllers(): Controllers | undefined {
    if (!this.#controllers?.isKnown) return undefined
    const { acquireTime, renewTime } = this.#controllers.lease?.spec ?? {}
    if (!acquireTime || !renewTime) return { lease: 'none' }
    return { lease: 'held', acquiredAt: acquireTime, renewedAt: renewTime }
  }

  /** Undefined while it is not known. */
  get leaseRenewedAt(): string | undefined {
    return this.#lease?.isKnown ? (this.#lease.lease?.spec.renewTime ?? never) : undefined
  }

  /** How long to wait and see whether the write is needed at all. */
  pauseBefore(decision: NodeAction, state: NodeState): number {
    if (decision.action !== 'setRollout' || !decision.unhurried) {
      this.#unhurried = undefined
      return 0
    }
    const { phase, reason } = decision.rollout
    const what = `${phase} ${reason?.code}`
    const nowMs = this.#options.ports.clock.monotonicMs()
    if (this.#unhurried?.what !== what) this.#unhurried = { what, sinceMs: nowMs }
    const news = reason?.code !== state.status?.rollout?.reason?.code
    return this.#unhurried.sinceMs + (news ? patienceMs : repeatMs) - nowMs
  }

  /** The write that waited is done: the next one waits anew. */
  forgetPause(): void {
    this.#unhurried = undefined
  }

  end(): void {
    this.stopDrain()
    for (const watch of [this.#lease, this.#controllers]) watch?.stop()
    this.#lease = undefined
    this.#controllers = undefined
    this.asksGates = false
  }

  #openLeaseWatch(lease: { readonly namespace: string; readonly name: string }): LeaseWatch {
    const { ports, wake, signal } = this.#options
    return new LeaseWatch(ports, lease, () => wake(this.#node), signal)
  }
}
