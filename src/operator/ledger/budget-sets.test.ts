import { describe, expect, it } from 'vitest'
import type { BudgetSpec } from '../../api/budget.ts'
import type { Node } from '../../api/kube.ts'
import { Store } from '../../kube/store.ts'
import { BudgetSets } from './budget-sets.ts'

let version = 0
function node(
  name: string,
  labels: Readonly<Record<string, string>>,
  traits: { readonly cordoned?: boolean } = {},
): Node {
  const metadata = { name, uid: `uid-${name}`, resourceVersion: String(++version), creationTimestamp: '', labels }
  const ready = { conditions: [{ type: 'Ready', status: 'True' as const }] }
  return { metadata, spec: traits.cordoned ? { unschedulable: true } : {}, status: ready }
}

function sets(specs: readonly BudgetSpec[], ...given: readonly Node[]) {
  const nodes = new Store<Node>()
  for (const object of given) nodes.upsert(object)
  const budgets = new BudgetSets({ nodes })
  budgets.follow(specs)
  const of = (name: string) =>
    budgets.of(name).map(({ name: set, maxUnavailable, away }) => {
      return `${set}: ${away ? [...away].join(' ') : '*'} of ${maxUnavailable}`
    })
  return { nodes, budgets, of }
}

const zone = 'topology.kubernetes.io/zone'
const [a, b] = [{ [zone]: 'eu-1a' }, { [zone]: 'eu-1b' }]

describe('the sets of budgets', () => {
  it.each<[string, BudgetSpec, readonly string[]]>([
    ['the cluster', { maxUnavailable: 2 }, ['cluster: * of 2']],
    ['a part of the cluster', { maxUnavailable: '50%' }, ['cluster: * of 2']],
    ['each value of a label', { per: zone, maxUnavailable: 1 }, ['zone eu-1a: w2 of 1']],
    ['a part of each value', { per: zone, maxUnavailable: '70%' }, ['zone eu-1a: w2 of 2']],
    ['what a selector says', { nodeSelector: { matchLabels: { pool: 'x' } }, maxUnavailable: 3 }, ['pool=x:  of 3']],
    ['somebody else', { nodeSelector: { matchLabels: { pool: 'y' } }, maxUnavailable: 3 }, []],
    [
      'each value of a label among those selected',
      { per: zone, nodeSelector: { matchLabels: { pool: 'x' } }, maxUnavailable: '100%' },
      ['zone eu-1a of pool=x:  of 1'],
    ],
  ])('%s', (_name, spec, expected) => {
    const nodes = [node('w1', { ...a, pool: 'x' }), node('w2', a, { cordoned: true }), node('w3', a), node('w4', b)]
    expect(sets([spec], ...nodes).of('w1')).toEqual(expected)
  })

  it('has one more value for the nodes without the label', () => {
    const { of } = sets([{ per: zone, maxUnavailable: '100%' }], node('w1', a), node('w2', {}), node('w3', {}))
    expect(of('w2')).toEqual(['no zone:  of 2'])
  })

  it('follows nodes that come, go, move and fall, and is the same object for the same set', () => {
    const { nodes, budgets, of } = sets([{ per: zone, maxUnavailable: '100%' }], node('w1', a), node('w2', a))
    const [before] = budgets.of('w1')
    nodes.upsert(node('w3', a))
    nodes.upsert(node('w2', a, { cordoned: true }))
    expect(of('w1')).toEqual(['zone eu-1a: w2 of 3'])
    nodes.upsert(node('w2', b, { cordoned: true }))
    expect([of('w1'), of('w2')]).toEqual([['zone eu-1a:  of 2'], ['zone eu-1b: w2 of 1']])
    nodes.remove('w3')
    expect(of('w3')).toEqual([])
    expect(of('w1')).toEqual(['zone eu-1a:  of 1'])
    expect(budgets.of('w1')[0]).toBe(before)
  })

  it('begins anew with other budgets', () => {
    const { budgets, of } = sets([{ maxUnavailable: 1 }], node('w1', a))
    budgets.follow([{ per: zone, maxUnavailable: 1 }])
    expect(of('w1')).toEqual(['zone eu-1a:  of 1'])
    budgets.follow([])
    expect(of('w1')).toEqual([])
  })
})
