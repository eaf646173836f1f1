import { describe, expect, it } from 'vitest'
import { scriptOrder } from '../../test/agent/agent-bench.ts'
import type { AgentOrder, NodeState, Order } from '../api/node-state.ts'
import { judgeOrder, type OrderView, whyStop } from './fencing.ts'

const order = scriptOrder({ epoch: 5 })
const end: AgentOrder = { id: order.id, state: 'Succeeded', steps: [] }
const otherWork: Order['work'] = { kubernetes: { version: 'v1.36.3' } }
const view = (part: Partial<OrderView>): OrderView => ({
  order,
  nodeUID: 'node-uid',
  record: { epoch: 5, nodeUID: 'node-uid' },
  journalled: undefined,
  withoutDriver: [],
  ...part,
})

describe('an order is judged', () => {
  it.each<{ name: string; given: Partial<OrderView>; verdict: string; code?: string }>([
    { name: 'new and good', given: {}, verdict: 'accept' },
    { name: 'of a younger epoch', given: { record: { epoch: 4, nodeUID: '' } }, verdict: 'accept' },
    { name: 'of an older epoch', given: { record: { epoch: 6, nodeUID: '' } }, verdict: 'refuse', code: 'FencedOff' },
    { name: 'for another machine', given: { nodeUID: 'other' }, verdict: 'refuse', code: 'FencedOff' },
    { name: 'without an owner', given: { nodeUID: undefined }, verdict: 'refuse', code: 'FencedOff' },
    { name: 'without a driver', given: { withoutDriver: ['kubernetes'] }, verdict: 'refuse', code: 'DriverMissing' },
    {
      name: 'unknown and withdrawn',
      given: { order: { ...order, desired: 'Withdraw' } },
      verdict: 'withdraw',
      code: 'OrderWithdrawn',
    },
    {
      name: 'unknown, withdrawn, without a driver',
      given: { order: { ...order, desired: 'Withdraw' }, withoutDriver: ['kubernetes'] },
      verdict: 'withdraw',
    },
    { name: 'under way', given: { journalled: { order } }, verdict: 'resume' },
    {
      name: 'under way, of an older epoch by now',
      given: { journalled: { order }, record: { epoch: 6, nodeUID: '' } },
      verdict: 'withdraw',
      code: 'FencedOff',
    },
    {
      name: 'under way with other content',
      given: { journalled: { order: { ...order, work: otherWork } } },
      verdict: 'withdraw',
      code: 'FencedOff',
    },
    { name: 'ended', given: { journalled: { order, end } }, verdict: 'repeat' },
    {
      name: 'ended, of an older epoch by now',
      given: { journalled: { order, end }, record: { epoch: 9, nodeUID: '' } },
      verdict: 'repeat',
    },
    {
      name: 'ended, and withdrawn only then',
      given: { order: { ...order, desired: 'Withdraw' }, journalled: { order, end } },
      verdict: 'repeat',
    },
    {
      name: 'ended with other content',
      given: { journalled: { order: { ...order, work: otherWork }, end } },
      verdict: 'refuse',
      code: 'FencedOff',
    },
    {
      name: 'withdrawn with other content',
      given: { journalled: { order: { ...order, work: otherWork }, end: { ...end, state: 'Withdrawn' } } },
      verdict: 'repeat',
    },
    {
      name: 'ended with another role',
      given: { journalled: { order: { ...order, role: 'ControlPlane' }, end } },
      verdict: 'refuse',
      code: 'FencedOff',
    },
  ])('$name: $verdict', ({ given, verdict, code }) => {
    const found = judgeOrder(view(given))
    expect(found.verdict).toBe(verdict)
    if (code !== undefined) expect(found).toMatchObject({ reason: { code } })
  })
})

describe('an order under way stops', () => {
  const state = (wanted: Order | undefined, nodeUID = 'node-uid', deletionTimestamp?: string): NodeState => ({
    metadata: {
      name: 'w1',
      uid: 'u',
      resourceVersion: '1',
      creationTimestamp: '2026-01-01T00:00:00Z',
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'w1', uid: nodeUID }],
      ...(deletionTimestamp !== undefined && { deletionTimestamp }),
    },
    spec: wanted ? { order: wanted } : {},
  })
  it.each<{ name: string; given: NodeState | undefined; says: string | undefined }>([
    { name: 'still wanted', given: state(order), says: undefined },
    { name: 'of a new epoch, otherwise the same', given: state({ ...order, epoch: 6 }), says: undefined },
    { name: 'no NodeState', given: undefined, says: 'its NodeState is gone' },
    { name: 'a NodeState being deleted', given: state(order, 'node-uid', '2026-01-01T00:00:00Z'), says: 'gone' },
    { name: 'no order', given: state(undefined), says: 'it was taken out of the NodeState' },
    { name: 'another order', given: state({ ...order, id: 'op-2' }), says: 'order op-2 took its place' },
    { name: 'withdrawn', given: state({ ...order, desired: 'Withdraw' }), says: 'the operator withdrew it' },
    { name: 'other content', given: state({ ...order, work: otherWork }), says: 'other content' },
    { name: 'another Node', given: state(order, 'other'), says: 'the Node of this name is another one by now' },
  ])('$name', ({ given, says }) => {
    const reason = whyStop(order, given)
    if (says === undefined) expect(reason).toBeUndefined()
    else expect(reason?.message).toContain(says)
  })
})
