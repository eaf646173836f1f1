import { describe, expect, it } from 'vitest'
import { mergePatched } from '../../../test/samples/merge-patched.ts'
import type { Node } from '../../api/kube.ts'
import { holdOf, isMarked, isPutBack, isTaken, puttingBackChange, takingChange } from './node-marks.ts'

const autoscaler = 'cluster-autoscaler.kubernetes.io/scale-down-disabled'
const karpenter = 'karpenter.sh/do-not-disrupt'
const balancers = 'node.kubernetes.io/exclude-from-external-load-balancers'

interface Traits {
  readonly annotations?: Readonly<Record<string, string>>
  readonly labels?: Readonly<Record<string, string>>
  readonly cordoned?: boolean
}
const node = ({ annotations = {}, labels = {}, cordoned = false }: Traits = {}): Node => ({
  metadata: { name: 'w1', uid: 'u', resourceVersion: '1', creationTimestamp: '', annotations, labels },
  spec: cordoned ? { unschedulable: true } : {},
})
const took = (before: Node, holder = 'up/1', leave = false) => mergePatched(before, takingChange(before, holder, leave))
const put = (before: Node) => mergePatched(before, puttingBackChange(before))
const withHold = (before: Node) => mergePatched(before, { metadata: { annotations: { 'slipway.dev/hold': '{}' } } })

describe('taking a node', () => {
  it('cordons it and tells autoscalers to leave it, in one write', () => {
    const taken = took(node(), 'up/1', true)
    expect(taken.spec.unschedulable).toBe(true)
    expect(taken.metadata.annotations).toEqual({
      'slipway.dev/cordon': 'up/1',
      'slipway.dev/marks': `${autoscaler},${karpenter},${balancers}`,
      [autoscaler]: 'true',
      [karpenter]: 'true',
    })
    expect(taken.metadata.labels).toEqual({ [balancers]: '' })
    expect(isTaken(taken, 'up/1')).toBe(true)
    expect(isTaken(taken, 'other/1')).toBe(false)
  })

  it('for the next operation changes whose it is and nothing else', () => {
    expect(takingChange(took(node()), 'next/1', true)).toEqual({
      metadata: { annotations: { 'slipway.dev/cordon': 'next/1' } },
      spec: { unschedulable: true },
    })
  })
})

describe('what was there before stays', () => {
  it.each<[string, Traits]>([
    ['nothing', {}],
    ['a mark for the autoscaler', { annotations: { [autoscaler]: 'true' } }],
    ['a mark for Karpenter that says no', { annotations: { [karpenter]: 'false' } }],
    ['both', { annotations: { [autoscaler]: 'true', [karpenter]: 'true' } }],
    ['a label for load balancers', { labels: { [balancers]: 'true' } }],
    ['a cordon of a person', { cordoned: true }],
  ])('%s', (_name, traits) => {
    const before = node(traits)
    const taken = took(before, 'up/1', true)
    expect(isTaken(taken, 'up/1')).toBe(true)
    expect(isMarked(taken)).toBe(true)
    expect(isPutBack(taken)).toBe(false)
    expect(put(taken)).toEqual(before)
    expect(isPutBack(put(taken))).toBe(true)
  })
})

describe('a node that a person keeps', () => {
  it('stays cordoned without our marks, and is theirs until they let go', () => {
    const kept = put(withHold(took(node())))
    expect(kept.spec.unschedulable).toBe(true)
    expect(isPutBack(kept)).toBe(true)
    expect(kept.metadata.annotations).toEqual({ 'slipway.dev/cordon': 'hold', 'slipway.dev/hold': '{}' })
    const released = mergePatched(kept, { metadata: { annotations: { 'slipway.dev/hold': null } } })
    expect(isPutBack(released)).toBe(false)
    expect(put(released)).toEqual(node())
  })

  it('is not cordoned again when they uncordon it meanwhile', () => {
    const uncordoned = mergePatched(withHold(took(node())), { spec: { unschedulable: null } })
    const after = put(uncordoned)
    expect(after.spec.unschedulable).toBeUndefined()
    expect(isMarked(after)).toBe(false)
  })

  it.each([
    ['{"by":"ana","at":"2026-01-01T00:00:00Z","why":"disk"}', 'ana since 2026-01-01T00:00:00Z: disk'],
    ['{"why":"disk"}', 'somebody: disk'],
    ['do not touch', 'do not touch'],
    ['', 'nobody says why'],
  ])('%s reads %s', (text, said) => {
    expect(holdOf(node({ annotations: { 'slipway.dev/hold': text } }))).toBe(said)
  })
})
