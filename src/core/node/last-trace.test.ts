import { describe, expect, it } from 'vitest'
import { node as sample } from '../../../test/cli/cli-fixture.ts'
import type { Node } from '../../api/kube.ts'
import { lastChange } from './last-trace.ts'
import { takingChange } from './node-marks.ts'

interface Traits {
  readonly annotations?: Readonly<Record<string, string>>
  readonly labels?: Readonly<Record<string, string>>
  readonly spec?: Node['spec']
}

function node({ annotations = {}, labels = {}, spec = {} }: Traits): Node {
  const plain = sample('w1')
  return { ...plain, metadata: { ...plain.metadata, annotations, labels }, spec }
}

const hold = JSON.stringify({ by: 'ann', why: 'disk', at: '2026-01-01T00:00:00Z' })

describe('lastChange', () => {
  it('leaves a node alone that has nothing of ours', () => {
    expect(lastChange(node({ annotations: { theirs: 'x' }, spec: { unschedulable: true } }))).toBeUndefined()
  })

  it('takes off everything that taking the node put on', () => {
    const taking = takingChange(node({}), 'u/1', true)
    const taken = node({
      annotations: { ...(taking.metadata.annotations as Record<string, string>), theirs: 'x' },
      labels: { ...(taking.metadata.labels as Record<string, string>) },
      spec: { unschedulable: true },
    })
    const change = lastChange(taken)
    expect(change?.spec).toEqual({ unschedulable: null })
    const { theirs: _theirs, ...ours } = taken.metadata.annotations ?? {}
    expect(change?.metadata.annotations).toEqual(Object.fromEntries(Object.keys(ours).map((key) => [key, null])))
    expect(change?.metadata.labels).toEqual({ 'node.kubernetes.io/exclude-from-external-load-balancers': null })
  })

  it('keeps the cordon of a person, and one that a person asked for', () => {
    const held = node({
      annotations: { 'slipway.dev/hold': hold, 'slipway.dev/cordon': 'hold' },
      spec: { unschedulable: true },
    })
    expect(lastChange(held)).toEqual({
      metadata: {
        annotations: { 'slipway.dev/hold': null, 'slipway.dev/cordon': null, 'slipway.dev/marks': null },
        labels: {},
      },
    })
  })

  it('takes off our taint and leaves those of others', () => {
    const gpu = { key: 'gpu', effect: 'NoSchedule' } as const
    const ours = { key: 'slipway.dev/maintenance-waiting', effect: 'PreferNoSchedule' } as const
    expect(lastChange(node({ spec: { taints: [gpu, ours] } }))?.spec).toEqual({ taints: [gpu] })
    expect(lastChange(node({ spec: { taints: [ours] } }))?.spec).toEqual({ taints: null })
  })

  it('takes off labels and annotations of ours, whatever they are for', () => {
    const change = lastChange(node({ annotations: { 'slipway.dev/weight': '2' }, labels: { 'slipway.dev/pool': 'a' } }))
    expect(change?.metadata).toEqual({
      annotations: { 'slipway.dev/weight': null },
      labels: { 'slipway.dev/pool': null },
    })
  })

  it('leaves there what people said, where Slipway comes back', () => {
    const annotations = { 'slipway.dev/hold': hold, 'slipway.dev/marks': '[]' }
    const change = lastChange(node({ annotations, labels: { 'slipway.dev/weight': '10' } }), true)
    expect(change?.metadata).toEqual({ annotations: { 'slipway.dev/marks': null }, labels: {} })
  })

  it('takes off what it said in the words of other systems', () => {
    const change = lastChange(
      node({
        annotations: { 'slipway.dev/housekeeper': 'u', 'k8s.io/maintenance-in-progress': 'x' },
        labels: { 'upgrade.housekeeper.io/upgrading': '' },
      }),
    )
    expect(change?.metadata).toEqual({
      annotations: { 'slipway.dev/housekeeper': null, 'k8s.io/maintenance-in-progress': null },
      labels: { 'upgrade.housekeeper.io/upgrading': null },
    })
    expect(lastChange(node({ labels: { 'upgrade.housekeeper.io/upgrading': '' } }))).toBeUndefined()
  })
})
