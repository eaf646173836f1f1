// Views of one node's life, with only what a case is about to be said. Instants are seconds after the start.

import type { AgentOrder, Order, Rollout } from '../../src/api/node-state.ts'
import type { Reason } from '../../src/api/reason.ts'
import { drainOf } from '../../src/core/drain/drain-policy.ts'
import type { DrainReport, NodeView } from '../../src/core/node/node-view.ts'
import type { Operation } from '../../src/core/update/operation.ts'
import { type NodeTraits, sampleNode, sampleState } from './cluster-objects.ts'

export const id = 'to-1-36/01234567-1-abc'
export const start = Date.parse('2026-01-01T12:00:00.000Z')
export const at = (seconds: number) => new Date(start + seconds * 1000).toISOString()

export const operation: Operation = {
  id,
  update: 'to-1-36',
  work: { kubernetes: { version: 'v1.36.3' } },
  disruption: 'Drain',
  rollback: 'Image',
  nodeTimeout: '30m',
  drain: drainOf({ timeout: '10m' }),
}
/** What a node says that was taken at that instant. */
export const leaving = (since = at(0)): Reason => ({
  code: 'PodEvicting',
  message: 'its pods are asked to leave',
  since,
})
export const rollout = (phase: Rollout['phase'], part: Partial<Rollout> = {}): Rollout => ({
  update: 'to-1-36',
  operationID: id,
  phase,
  since: at(0),
  takenAt: at(0),
  attempt: 1,
  cordon: { prior: 'Schedulable' },
  ...(phase === 'Draining' && { reason: leaving(part.since) }),
  ...part,
})
export const draining = rollout('Draining', { deadline: at(600) })
export const order = (part: Partial<Order> = {}): Order => ({
  id: `${id}/1`,
  update: 'to-1-36',
  nodeUID: 'uid-w1',
  epoch: 7,
  role: 'Worker',
  offline: 'Refused',
  desired: 'Run',
  rollback: 'Image',
  timeout: '30m',
  work: { kubernetes: { version: 'v1.36.3' } },
  ...part,
})
export const report = (state: AgentOrder['state'], part: Partial<AgentOrder> = {}): AgentOrder => ({
  id: `${id}/1`,
  state,
  steps: [],
  ...part,
})

export interface Given {
  readonly node?: NodeTraits
  readonly rollout?: Rollout
  readonly order?: Order
  readonly report?: AgentOrder
  readonly grant?: string | null
  readonly gone?: boolean
  /** The operation wants the node to stage. */
  readonly staging?: boolean
  readonly successor?: boolean
  readonly drain?: DrainReport
  readonly podsUnknown?: string
  readonly lease?: string
  readonly leaseUnknown?: string
  readonly controllers?: NodeView['controllers']
  /** Seconds after the start. */
  readonly now?: number
  readonly grace?: number
}

export const viewOf = (given: Given): NodeView => {
  const { grant = id, now = 1, grace = 0 } = given
  return {
    node: sampleNode('w1', given.node),
    state: sampleState('w1', given),
    grant: grant === null ? undefined : { node: 'w1', nodeUID: 'uid-w1', holder: grant, since: at(0) },
    operation: given.gone ? undefined : operation,
    staging: given.staging ? operation : undefined,
    successor: given.successor ?? false,
    work: operation.work,
    drain: given.drain,
    podsUnknown: given.podsUnknown,
    leaseRenewedAt: given.lease,
    leaseUnknown: given.leaseUnknown,
    othersServe: false,
    controllers: given.controllers,
    epoch: 7,
    now: new Date(start + now * 1000),
    graceUntil: new Date(start + grace * 1000),
  }
}

export const ours: NodeTraits = { cordoned: true, mark: id }
export const upgraded: NodeTraits = { ...ours, kubelet: 'v1.36.3' }
export const setRollout = (expected: Rollout) => ({ action: 'setRollout', rollout: expected })
/** A state that is written only when it lasts. */
export const setIfLasting = (expected: Rollout) => ({ action: 'setRollout', unhurried: true, rollout: expected })
export const wait = (seconds?: number) => ({
  action: 'wait',
  ...(seconds !== undefined && { untilMs: start + seconds * 1000 }),
})

/** An agent says nothing more of an order after one of these. */
export const lastStates: readonly AgentOrder['state'][] = ['Succeeded', 'Failed', 'Withdrawn', 'Refused']

/** Whether the order may still run: the agent has not ended it, nor is it stuck and will find it withdrawn. */
export const mayRun = (order: Order | undefined, answer: AgentOrder | undefined): boolean => {
  const over = order?.desired === 'Withdraw' ? [...lastStates, 'RequiresAttention' as const] : lastStates
  return order !== undefined && !(answer?.id === order.id && over.includes(answer.state))
}
