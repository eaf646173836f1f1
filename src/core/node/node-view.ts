// What is looked at to decide what to do next with a node, and what can be done.

import type { HookRun } from '../../api/hook.ts'
import type { Node } from '../../api/kube.ts'
import type { Grant } from '../../api/maintenance-policy.ts'
import type { NodeState, Order, PodDrainState, Rollout } from '../../api/node-state.ts'
import type { Reason } from '../../api/reason.ts'
import type { Work } from '../../api/work.ts'
import type { GateVerdict } from '../gates/decide-gate.ts'
import type { HookCall, HookOutcome } from '../hooks/hook-call.ts'
import type { Operation } from '../update/operation.ts'

export interface DrainReport {
  readonly total: number
  /** Pods that must still go. */
  readonly left: number
  /** Those of them that cannot be asked to go now, where they stand on the ladder, and why. */
  readonly blocked: readonly { readonly pod: string; readonly state: PodDrainState; readonly reason: Reason }[]
  /** What the others of them do, in words: they go in good time. Absent = not told. */
  readonly going?: readonly string[]
  /** When all have left: volumes of theirs that are still attached. Absent = none. */
  readonly volumes?: readonly { readonly volume: string; readonly attachment: string }[]
}

/** The Lease of the kube-controller-manager, as it was written last. */
export type Controllers =
  | { readonly lease: 'none' }
  | { readonly lease: 'held'; readonly acquiredAt: string; readonly renewedAt: string }

export interface NodeView {
  readonly node: Node
  readonly state: NodeState
  readonly grant: Grant | undefined
  /** The operation the grant is for, as it stands now; undefined when it is deleted or was replaced by an edit. */
  readonly operation: Operation | undefined
  /** Without a slot: the operation that wants this node to stage, or whose staging here is still wanted. */
  readonly staging: Operation | undefined
  /** Another operation waits for this very node and would take it over now, cordoned and drained. */
  readonly successor: boolean
  /** What the operation asks of this very node. */
  readonly work: Work
  /** Undefined while the node's pods are not known. */
  readonly drain: DrainReport | undefined
  /** Why the node's pods are not known, where that takes longer than a moment. */
  readonly podsUnknown?: string | undefined
  /** No window is open, and the policy says that a drain waits for the next. */
  readonly heldOver?: Reason | undefined
  /** The policy, or this update, is paused: no further node is taken. */
  readonly paused?: boolean | undefined
  /** When the node's kubelet last renewed its Lease; undefined while not looked at. */
  readonly leaseRenewedAt: string | undefined
  /** Why that is not known though it was looked at. */
  readonly leaseUnknown?: string | undefined
  /** The cluster's controllers; undefined while not looked at. */
  readonly controllers: Controllers | undefined
  /** Why they are not known though they were looked at. */
  readonly controllersUnknown?: string | undefined
  /** Another control-plane node tells of its API server. */
  readonly othersServe: boolean
  /** What the gates after a node say; undefined while nobody asks. */
  readonly gates?: GateVerdict | undefined
  /** What became of a hook; undefined while nobody has started it. */
  readonly hookOutcome?: ((call: HookCall) => HookOutcome | undefined) | undefined
  readonly epoch: number
  readonly now: Date
  /** Nothing is judged late before this: after a change of leader everybody gets a fair time to report. */
  readonly graceUntil: Date
}

export type NodeAction =
  | { readonly action: 'cordon' }
  | { readonly action: 'uncordon' }
  /** `unhurried`: a state that usually passes at once, worth a write only when it lasts. */
  | {
      readonly action: 'setRollout'
      readonly rollout: Rollout
      readonly unhurried?: true
      /** What the node is done for so far: a new rollout must not make an update that still runs take it again. */
      readonly completed?: readonly string[]
    }
  | { readonly action: 'watchPods' }
  | { readonly action: 'watchLease' }
  | { readonly action: 'watchControllers' }
  | { readonly action: 'askGates' }
  /** Writes what became of hooks, before and after each. */
  | { readonly action: 'setHooks'; readonly runs: readonly HookRun[] }
  | { readonly action: 'startHook'; readonly call: HookCall }
  | { readonly action: 'setOrder'; readonly order: Order }
  /** Takes our marks off the NodeState: the operation is gone and nothing of it runs. */
  | {
      readonly action: 'clear'
      /** Another operation wants the node: that it failed for this one is kept. */
      readonly remembers?: true
    }
  /** Takes an order out that was only to be staged. */
  | { readonly action: 'dropOrder' }
  | { readonly action: 'returnGrant' }
  /** A node under work without a slot: the ledger was lost; book it before anything else. */
  | { readonly action: 'regrant'; readonly holder: string }
  | { readonly action: 'wait'; readonly untilMs?: number }
