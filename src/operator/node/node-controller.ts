// One node under work: look at everything, let the core decide, do it, look again; until there is something to wait for.

import { type Lease, leases } from '../../api/kube.ts'
import type { NodeState } from '../../api/node-state.ts'
import { decideNode, type NodeAction, type NodeView } from '../../core/node/decide-node.ts'
import { isReady } from '../../core/node/node-facts.ts'
import type { Operation } from '../../core/update/operation.ts'
import type { Reconcile } from '../../kube/controller.ts'
import type { EventRecorder } from '../../kube/event-recorder.ts'
import { LinkedAbort } from '../../kube/linked-abort.ts'
import { Reflector } from '../../kube/reflector.ts'
import { Store } from '../../kube/store.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { BudgetWatch } from '../drain/budget-watch.ts'
import { NodeDrain } from '../drain/node-drain.ts'
import type { OwnPods } from '../drain/own-pods.ts'
import type { GrantPass } from '../ledger/grant-pass.ts'
import type { LedgerBook } from '../ledger/ledger-book.ts'
import type { OperatorPorts } from '../ports.ts'
import * as act from './act.ts'
import { eventOf } from './node-events.ts'

export interface NodeControllerOptions {
  readonly ports: OperatorPorts
  readonly cluster: Cluster
  readonly book: LedgerBook
  readonly grants: GrantPass
  readonly budgets: BudgetWatch
  readonly ownPods: OwnPods
  readonly events: EventRecorder
  /** The operation as it stands now; undefined when it is gone. */
  readonly operation: (id: string) => Operation | undefined
  readonly wake: (node: string) => void
  readonly wakeGrants: () => void
  readonly graceUntil: Date
  readonly signal: AbortSignal
}

/** What is remembered of a node while it is under work, and can be lost at any moment. */
interface Attention {
  drain?: NodeDrain
  lease?: { readonly store: Store<Lease>; readonly reflector: Reflector<Lease>; readonly stop: () => void }
  /** A rollout that is written only if it lasts, and since when it was wanted. */
  unhurried?: { readonly what: string; readonly sinceMs: number }
}

/** A Lease that is not there was never renewed. */
const never = new Date(0).toISOString()

const watchEnded = 'the Lease is of no interest any more'

const patienceMs = 2_000
/** The same reason with other pods is told again at most this often. */
const repeatMs = 15_000

/** More decisions in a row than any healthy path needs: then let others have a turn. */
const maxActions = 12

export function makeNodeReconcile(options: NodeControllerOptions): Reconcile {
  const { ports, cluster, book } = options
  const attention = new Map<string, Attention>()

  const dismiss = (name: string): void => {
    const held = attention.get(name)
    held?.drain?.stop()
    held?.lease?.stop()
    attention.delete(name)
  }

  return async (name, signal) => {
    for (let turn = 0; turn < maxActions; turn++) {
      const node = cluster.nodes.get(name)
      const state = cluster.states.get(name)
      if (!node) {
        dismiss(name)
        if (state) await act.removeState(ports.api, cluster, state, signal)
        return undefined
      }
      if (!state || act.isForeign(state, node)) {
        await act.adoptState(ports.api, cluster, node, state, signal)
        return undefined
      }
      const grant = book.grantOf(name)
      const held = attention.get(name) ?? {}
      if (grant) attention.set(name, held)
      const operation = grant && options.operation(grant.holder)
      const report = operation && held.drain && (await stepDrain(held, operation, state, signal))
      const now = ports.clock.now()
      const view: NodeView = {
        node,
        state,
        grant,
        operation,
        drain: report,
        leaseRenewedAt: held.lease && (held.lease.store.get(`kube-node-lease/${name}`)?.spec.renewTime ?? never),
        epoch: book.epoch,
        now,
        graceUntil: options.graceUntil,
      }
      const decision = decideNode(view)
      if (decision.action === 'wait') {
        if (!grant) dismiss(name)
        const until = decision.untilMs === undefined ? [] : [Math.max(1, decision.untilMs - now.getTime())]
        const waits = [...until, ...(report?.againMs === undefined ? [] : [Math.max(1, report.againMs)])]
        return waits.length > 0 ? { afterMs: Math.min(...waits) } : undefined
      }
      const pauseMs = pauseBefore(decision, state, held)
      if (pauseMs > 0) return { afterMs: Math.min(pauseMs, report?.againMs ?? pauseMs) }
      const done = await perform(decision, view, held, signal)
      if (done) {
        if (!grant || decision.action === 'returnGrant') dismiss(name)
        return undefined
      }
    }
    return { afterMs: 1 }
  }

  /** How long to wait and see whether the write is needed at all. */
  function pauseBefore(decision: NodeAction, state: NodeState, held: Attention): number {
    if (decision.action !== 'setRollout' || !decision.unhurried) {
      delete held.unhurried
      return 0
    }
    const { phase, reason } = decision.rollout
    const what = `${phase} ${reason?.code}`
    const nowMs = ports.clock.monotonicMs()
    if (held.unhurried?.what !== what) held.unhurried = { what, sinceMs: nowMs }
    const news = reason?.code !== state.status?.rollout?.reason?.code
    return held.unhurried.sinceMs + (news ? patienceMs : repeatMs) - nowMs
  }

  /** True when the next look must wait for somebody else's write. */
  async function perform(decision: NodeAction, view: NodeView, held: Attention, signal: AbortSignal): Promise<boolean> {
    const { node, state, grant } = view
    const { name, uid } = node.metadata
    switch (decision.action) {
      case 'cordon':
        await act.cordon(ports.api, cluster, node, grant?.holder ?? '', signal)
        // Its pods are listed while the next write is under way.
        if (grant) held.drain ??= watchPods(name)
        return false
      case 'uncordon':
        await act.uncordon(ports.api, cluster, node, signal)
        return false
      case 'setRollout':
        delete held.unhurried
        await act.setRollout(ports.api, cluster, state, decision, signal)
        noteRollout(view, decision.rollout)
        if (decision.rollout.phase !== 'Draining') stopDrain(held)
        return false
      case 'watchPods':
        held.drain ??= watchPods(name)
        await held.drain.synced(signal)
        return false
      case 'watchLease':
        held.lease ??= watchLease(name)
        await held.lease.reflector.synced(signal)
        return false
      case 'setOrder':
        await act.setOrder(ports.api, cluster, state, decision.order, signal)
        stopDrain(held)
        return false
      case 'clear':
        await act.clear(ports.api, cluster, state, signal)
        return false
      case 'returnGrant':
        if (grant) options.grants.giveBack(grant)
        options.wakeGrants()
        return true
      case 'regrant':
        options.grants.rebook({ node: name, nodeUID: uid, holder: state.status?.rollout?.operationID ?? '' })
        options.wakeGrants()
        return true
      case 'wait':
        return true
    }
  }

  async function stepDrain(held: Attention, operation: Operation, state: NodeState, signal: AbortSignal) {
    if (!held.drain?.isSynced || state.status?.rollout?.operationID !== operation.id) return undefined
    return held.drain.step(operation, signal)
  }

  function watchPods(name: string): NodeDrain {
    return new NodeDrain({
      ports,
      node: name,
      budgets: options.budgets,
      ownPods: options.ownPods,
      wake: () => options.wake(name),
      signal: options.signal,
    })
  }

  function stopDrain(held: Attention): void {
    held.drain?.stop()
    delete held.drain
  }

  function watchLease(name: string): NonNullable<Attention['lease']> {
    const store = new Store<Lease>()
    const selection = { namespace: 'kube-node-lease', fieldSelector: `metadata.name=${name}` }
    const reflector = new Reflector<Lease>({ ...ports, type: leases, store, selection })
    store.subscribe(() => options.wake(name))
    const life = new LinkedAbort(options.signal)
    void reflector.run(life.signal)
    return { store, reflector, stop: () => life.abort(watchEnded) }
  }

  function noteRollout(
    { node, state }: NodeView,
    rollout: NonNullable<NonNullable<NodeState['status']>['rollout']>,
  ): void {
    const before = state.status?.rollout
    if (before?.phase !== rollout.phase || before.operationID !== rollout.operationID) {
      ports.log.info('node phase changed', {
        node: node.metadata.name,
        update: rollout.update,
        phase: rollout.phase,
        ready: isReady(node),
        ...(rollout.reason && { reason: rollout.reason.code, message: rollout.reason.message }),
      })
    }
    const event = eventOf(node, before, rollout)
    if (event) options.events.record(event)
  }
}
