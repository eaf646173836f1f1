// Rule 11: whether a step may start now. Before a disruptive step the NodeState is read afresh, not from the watch, which may
// be behind; with the API away it starts only if the order allows that, else it waits. A step that only settles what was begun
// asks nobody.

import { isKubeError, type KubeError } from '../api/kube-error.ts'
import { type NodeState, nodeStates, type Order } from '../api/node-state.ts'
import type { Reason } from '../api/reason.ts'
import { backOffMs } from '../kube/back-off.ts'
import { sleep } from '../kube/sleep.ts'
import type { Store } from '../kube/store.ts'
import type { Clock } from '../ports/clock.ts'
import type { KubeApi } from '../ports/kube-api.ts'
import type { Log } from '../ports/log.ts'
import type { Random } from '../ports/random.ts'
import type { Deadline } from './deadline.ts'
import type { Step } from './drivers/driver.ts'
import { whyBack, whyStop } from './fencing.ts'

export type Permission = { readonly may: true } | Refusal

export interface Refusal {
  readonly may: false
  readonly end: 'Withdrawn' | 'Failed'
  readonly reason: Reason
}

export interface Gatekeeper {
  readonly api: KubeApi
  readonly store: Store<NodeState>
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly nodeName: string
  /** Whether the watch has shown the present state since this agent started. */
  isSynced(): boolean
}

/** So often the API is asked before an order that allows it goes on without. */
const triesBeforeOffline = 3
const backOff = { baseMs: 500, maxMs: 10_000 }

/** Whether the NodeState says that this order, which was only to be staged, may run now. */
export function isReleased(gate: Gatekeeper, order: Order): boolean {
  const wanted = gate.isSynced() ? gate.store.get(gate.nodeName)?.spec.order : undefined
  return wanted?.id === order.id && wanted.desired === 'Run'
}

/** Whether the NodeState tells of this order, by what is known without asking. */
export function isTold(gate: Gatekeeper, order: Order): boolean {
  return gate.store.get(gate.nodeName)?.status?.agent?.order?.id === order.id
}

/** Why the order is to be taken back, by what is known without asking. */
export function askedBack(gate: Gatekeeper, order: Order): Reason | undefined {
  return gate.isSynced() ? whyBack(order, gate.store.get(gate.nodeName)) : undefined
}

/** By what is known without asking. */
export function permissionByWatch(gate: Gatekeeper, order: Order, deadline: Deadline): Permission {
  if (deadline.isOver) return timedOut(order)
  return gate.isSynced() ? verdict(order, gate.store.get(gate.nodeName)) : { may: true }
}

export async function permissionToStart(
  gate: Gatekeeper,
  order: Order,
  { disruptive, settles }: Pick<Step, 'disruptive' | 'settles'>,
  deadline: Deadline,
  signal: AbortSignal,
): Promise<Permission> {
  const known = permissionByWatch(gate, order, deadline)
  if (!known.may || settles || (!disruptive && gate.isSynced())) return known
  for (let failures = 1; ; failures++) {
    const answer = await look(gate, signal)
    if ('state' in answer) return verdict(order, answer.state)
    const { error } = answer
    if (order.offline === 'Allowed' && isAway(error) && failures >= triesBeforeOffline) {
      gate.log.info('the API is away; the order allows to go on', { order: order.id, code: error.code })
      return { may: true }
    }
    gate.log.warn('waiting for the API before a step starts', {
      order: order.id,
      code: error.code,
      error: error.message,
    })
    const waitMs = error.retryAfterMs ?? backOffMs(backOff, failures, gate.random)
    await sleep(gate.clock, Math.min(waitMs, deadline.leftMs()), signal)
    if (deadline.isOver) return timedOut(order)
  }
}

async function look(
  gate: Gatekeeper,
  signal: AbortSignal,
): Promise<{ readonly state: NodeState | undefined } | { readonly error: KubeError }> {
  try {
    const state = await gate.api.get(nodeStates, { name: gate.nodeName }, signal)
    gate.store.learn(state)
    return { state }
  } catch (error) {
    if (signal.aborted || !isKubeError(error)) throw error
    return error.code === 'NotFound' ? { state: undefined } : { error }
  }
}

function isAway(error: KubeError): boolean {
  return isKubeError(error, 'Unreachable', 'Timeout', 'ServerError')
}

function verdict(order: Order, state: NodeState | undefined): Permission {
  const reason = whyStop(order, state)
  return reason ? { may: false, end: 'Withdrawn', reason } : { may: true }
}

function timedOut(order: Order): Permission {
  const message = `order ${order.id} has taken longer than ${order.timeout}; no further step is started`
  return { may: false, end: 'Failed', reason: { code: 'OrderTimedOut', message } }
}
