// One node under work: look at everything, let the core decide, do it, look again; until there is something to wait for.

import type { NodeState, Order, Rollout } from '../../api/node-state.ts'
import type { Work } from '../../api/work.ts'
import type { GateVerdict } from '../../core/gates/decide-gate.ts'
import type { HookCall } from '../../core/hooks/hook-call.ts'
import { decideNode } from '../../core/node/decide-node.ts'
import { isReady } from '../../core/node/node-facts.ts'
import { cleanUp } from '../../core/node/node-hooks.ts'
import type { NodeAction, NodeView } from '../../core/node/node-view.ts'
import { type Operation, ownerOfOperation } from '../../core/update/operation.ts'
import type { Reconcile } from '../../kube/controller.ts'
import type { EventRecorder } from '../../kube/event-recorder.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { DrainTools } from '../drain/node-drain.ts'
import type { Hooks } from '../hooks/hooks.ts'
import type { GrantPass } from '../ledger/grant-pass.ts'
import type { LedgerBook } from '../ledger/ledger-book.ts'
import type { OperatorPorts } from '../ports.ts'
import * as act from './act.ts'
import { Attention } from './attention.ts'
import { eventsOf, hookEvents } from './node-events.ts'

export interface NodeControllerOptions {
  readonly ports: OperatorPorts
  readonly cluster: Cluster
  readonly book: LedgerBook
  readonly grants: GrantPass
  readonly drains: DrainTools
  readonly hooks: Hooks
  readonly events: EventRecorder
  /** The operation as it stands now; undefined when it is gone. */
  readonly operation: (id: string) => Operation | undefined
  /** The operation that wants a node without a slot to stage, or for which it has and should keep what it has. */
  readonly staging: (node: string, state: NodeState) => Operation | undefined
  /** What the gates after a node say of it. */
  readonly afterNode: (operation: Operation, node: string, rollout: Rollout) => GateVerdict
  /** Whether an operation other than the holder would take the node over now. */
  readonly hasSuccessor: (node: string, holder: string) => boolean
  /** What the operation asks of this node. */
  readonly workFor: (operation: Operation, node: string) => Work
  /** Puts what the order names where the agent finds it. */
  readonly prepare: (order: Order, signal: AbortSignal) => Promise<void>
  readonly wake: (node: string) => void
  readonly wakeGrants: () => void
  readonly graceUntil: Date
  readonly signal: AbortSignal
}

/** More decisions in a row than any healthy path needs: then let others have a turn. */
const maxLooks = 12
const again = 'again'
/** Where gates are waited for: what another attempt brings is asked about when it is there. */
const gated: ReadonlySet<Rollout['phase']> = new Set(['Verifying', 'RequiresAttention'])

export function makeNodeReconcile(options: NodeControllerOptions): Reconcile {
  const { ports, cluster, book } = options
  const attention = new Map<string, Attention>()

  return async (name, signal) => {
    for (let looks = 0; looks < maxLooks; looks++) {
      const result = await look(name, signal)
      if (result !== again) return result
    }
    return { afterMs: 1 }
  }

  /** One look at everything, and one action at most; `again` when nothing has to be waited for. */
  async function look(name: string, signal: AbortSignal): Promise<Awaited<ReturnType<Reconcile>> | typeof again> {
    const node = cluster.nodes.get(name)
    const state = cluster.states.get(name)
    const hookOutcome = (call: HookCall) => options.hooks.outcome(call)
    if (state && (!node || act.isForeign(state, node))) {
      // The machine is gone; what its hooks owe is not.
      const owed = cleanUp({ state, hookOutcome, now: ports.clock.now() })
      if (owed) return (await performHook(owed, state, signal)) ? undefined : again
    }
    if (!node) {
      dismiss(name)
      if (state) await act.removeState(ports.api, state, signal)
      return undefined
    }
    if (!state || act.isForeign(state, node)) {
      await act.adoptState(ports.api, cluster, node, state, signal)
      return undefined
    }
    const grant = book.grantOf(name)
    // The pass that takes the slot back may be giving its room to another node: what is decided anew now would come on top.
    if (grant && options.grants.isGoingBack(grant)) return undefined
    const held = attention.get(name) ?? new Attention(name, options)
    if (grant || state.spec.order?.desired === 'Stage') attention.set(name, held)
    const operation = grant && options.operation(grant.holder)
    const { graceUntil } = options
    const step = operation && { operation, node, takenAt: grant.since, now: ports.clock.now(), graceUntil }
    const heldOver = grant && options.grants.heldOver(grant.holder)
    // Who waits for the next window keeps nobody else from a budget meanwhile.
    if (heldOver) held.stopDrain()
    // Of a node that is being put back no pod is asked to leave.
    const mayDrain = !heldOver && operation?.cancel === undefined
    const drain = step && mayDrain ? await held.stepDrain(step, state, signal) : undefined
    const now = ports.clock.now()
    const { leaseRenewedAt, leaseUnknown, controllers, controllersUnknown, podsUnknown } = held
    const staging = grant ? undefined : options.staging(name, state)
    const wanted = operation ?? staging
    const work = wanted ? options.workFor(wanted, name) : {}
    const successor = grant !== undefined && options.hasSuccessor(name, grant.holder)
    const { epoch } = book
    const rollout = state.status?.rollout
    const gates = held.asksGates && operation && rollout ? options.afterNode(operation, name, rollout) : undefined
    const paused = cluster.policy?.spec.paused === true || isPaused(operation)
    const told = { leaseRenewedAt, leaseUnknown, controllers, controllersUnknown, othersServe: othersServe(name) }
    const looked = { drain, podsUnknown, heldOver, paused, ...told, gates, hookOutcome }
    const wishes = { operation, staging, successor, work }
    const view: NodeView = { node, state, grant, ...wishes, ...looked, epoch, now, graceUntil }
    const decision = decideNode(view)
    if (decision.action === 'wait') {
      if (!grant && !view.staging) dismiss(name)
      const untilMs = decision.untilMs === undefined ? undefined : decision.untilMs - now.getTime()
      return afterFirstOf(untilMs, drain?.againMs)
    }
    const pauseMs = held.pauseBefore(decision, state)
    if (pauseMs > 0) return afterFirstOf(pauseMs, drain?.againMs)
    const done = await perform(decision, view, held, signal)
    if (!done) return again
    if ((!grant && !view.staging) || decision.action === 'returnGrant') dismiss(name)
    return undefined
  }

  function othersServe(name: string): boolean {
    const others = [...cluster.controlPlane].filter((other) => other !== name)
    return others.some((other) => cluster.states.get(other)?.status?.agent?.controlPlane?.apiServer)
  }

  /** A profile is never paused by itself, whatever an update of its name is. */
  function isPaused(operation: Operation | undefined): boolean {
    if (operation === undefined) return false
    return cluster.updates.get(ownerOfOperation(operation.id))?.spec.desiredState === 'Paused'
  }

  function dismiss(name: string): void {
    attention.get(name)?.end()
    attention.delete(name)
  }

  /** True when the next look must wait for somebody else's write. */
  async function perform(decision: NodeAction, view: NodeView, held: Attention, signal: AbortSignal): Promise<boolean> {
    const { node, state, grant } = view
    const { name, uid } = node.metadata
    switch (decision.action) {
      case 'cordon':
        await act.cordon(ports.api, cluster, node, grant?.holder ?? '', signal)
        // Its pods are listed while the next write is under way.
        if (grant) held.watchPods()
        return false
      case 'uncordon':
        held.stopDrain()
        await act.uncordon(ports.api, cluster, node, signal)
        return false
      case 'setRollout':
        held.forgetPause()
        await act.setRollout(ports.api, cluster, state, decision, signal)
        noteRollout(view, decision.rollout)
        if (decision.rollout.phase !== 'Draining') held.stopDrain()
        if (!gated.has(decision.rollout.phase)) held.asksGates = false
        return false
      case 'watchPods':
        await held.watchPods().learn(signal)
        return false
      case 'watchLease':
        await held.watchLease(signal)
        return false
      case 'watchControllers':
        await held.watchControllers(signal)
        return false
      case 'setHooks':
      case 'startHook':
        return performHook(decision, state, signal)
      case 'askGates':
        held.asksGates = true
        return false
      case 'setOrder':
        if (decision.order.desired !== 'Withdraw') await options.prepare(decision.order, signal)
        await act.setOrder(ports.api, cluster, state, decision.order, signal)
        held.stopDrain()
        return false
      case 'dropOrder':
        await act.dropOrder(ports.api, cluster, state, signal)
        return false
      case 'clear':
        await act.clear(ports.api, cluster, state, decision, signal)
        return false
      case 'returnGrant':
        if (grant) options.grants.giveBack(grant)
        options.wakeGrants()
        return true
      case 'regrant':
        options.grants.rebook({ node: name, nodeUID: uid, holder: decision.holder })
        options.wakeGrants()
        return true
      case 'wait':
        return true
    }
  }

  async function performHook(decision: NodeAction, state: NodeState, signal: AbortSignal): Promise<boolean> {
    const { name } = state.metadata
    if (decision.action === 'startHook') {
      options.hooks.start(decision.call, () => options.wake(name))
      return false
    }
    if (decision.action !== 'setHooks') return true
    await act.setHooks(ports.api, cluster, state, decision.runs, signal)
    for (const run of decision.runs) {
      options.hooks.recorded(run, name)
      const before = state.spec.hooks?.find((entry) => entry.hook === run.hook && entry.since === run.since)
      for (const event of hookEvents(name, before, run)) options.events.record(event)
    }
    return false
  }

  function noteRollout({ node, state }: NodeView, rollout: Rollout): void {
    const before = state.status?.rollout
    if (before?.phase !== rollout.phase || before.operationID !== rollout.operationID) {
      ports.log.info('node phase changed', {
        node: node.metadata.name,
        update: rollout.update,
        operation: rollout.operationID,
        phase: rollout.phase,
        ready: isReady(node),
        ...(rollout.reason && { code: rollout.reason.code, message: rollout.reason.message }),
      })
    }
    for (const event of eventsOf(node, before, rollout)) options.events.record(event)
  }
}

/** The earlier of the two, and never at once: what is due now was just looked at. */
function afterFirstOf(...waitsMs: readonly (number | undefined)[]): { readonly afterMs: number } | undefined {
  const known = waitsMs.flatMap((ms) => (ms === undefined ? [] : [Math.max(1, ms)]))
  return known.length > 0 ? { afterMs: Math.min(...known) } : undefined
}
