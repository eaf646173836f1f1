import { describe, expect, it } from 'vitest'
import type { DirectUpdateSpec } from '../../api/direct-update.ts'
import type { Node } from '../../api/kube.ts'
import { itineraryOf } from './itinerary.ts'

interface Made {
  readonly role?: 'control-plane'
  readonly ready?: boolean
  readonly cordoned?: boolean
  readonly zone?: string
  readonly version?: string
}

function node(name: string, { role, ready = true, cordoned, zone, version = 'v1.35.4' }: Made = {}): Node {
  const labels = {
    ...(role && { 'node-role.kubernetes.io/control-plane': '' }),
    ...(zone && { 'topology.kubernetes.io/zone': zone }),
  }
  return {
    metadata: { name, uid: name, resourceVersion: '1', creationTimestamp: '2026-11-01T00:00:00Z', labels },
    spec: cordoned ? { unschedulable: true } : {},
    status: {
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
      nodeInfo: { kubeletVersion: version, bootID: name },
    },
  }
}

const spec: DirectUpdateSpec = { kubernetes: { version: 'v1.36.3' } }
const base = { spec, stateOf: () => undefined, policy: undefined, ownNode: undefined }

describe('the order of an update', () => {
  it('is the control plane, then workers by zone in turn', () => {
    const nodes = [
      node('a1', { zone: 'a' }),
      node('a2', { zone: 'a' }),
      node('b1', { zone: 'b' }),
      node('cp1', { role: 'control-plane' }),
    ]
    expect(itineraryOf({ ...base, nodes }).waves).toEqual([['cp1'], ['a1', 'b1', 'a2']])
  })

  it('has nodes that are away already first, the own one last, and waits for those that are not Ready', () => {
    const nodes = [node('w1'), node('w2', { cordoned: true }), node('w3', { ready: false }), node('w4')]
    const { waves, unready } = itineraryOf({ ...base, nodes, ownNode: 'w1' })
    expect(waves).toEqual([[], ['w2', 'w4', 'w1']])
    expect(unready).toEqual([[], ['w3']])
  })

  it('leaves out what is skipped, not selected, or done', () => {
    const nodes = [node('w1'), node('w2'), node('w3', { version: 'v1.36.3' })]
    expect(itineraryOf({ ...base, nodes, spec: { ...spec, skip: ['w1'] } }).waves).toEqual([[], ['w2']])
  })

  it('cuts waves by their sizes, and counts percentages of all that are selected', () => {
    const nodes = Array.from({ length: 10 }, (_, index) => node(`w${index + 1}`))
    const strategy = { maxUnavailable: '30%', waves: [{ size: 1 }, { size: '50%' }, { size: '100%' }] }
    const { waves, maxUnavailable, atOnce } = itineraryOf({ ...base, nodes, spec: { ...spec, strategy } })
    expect(waves.map(({ length }) => length)).toEqual([0, 1, 4, 5])
    expect([maxUnavailable, atOnce]).toEqual([3, 3])
    const policy = { budgets: [{ maxUnavailable: 2 }] }
    expect(itineraryOf({ ...base, nodes, policy, spec: { ...spec, strategy } }).atOnce).toBe(2)
  })
})
