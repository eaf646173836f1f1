import { describe, expect, it } from 'vitest'
import { metadata, type NodeTraits, sampleNode, samplePod } from '../../../test/samples/cluster-objects.ts'
import type { Taint, Toleration } from '../../api/kube.ts'
import { cordonOwner, couldRun, isCordoned, isReady, isUnavailable, readyCondition, roleOf } from './node-facts.ts'

describe('what a node says', () => {
  it.each([
    ['no label', {}, 'Worker'],
    ['control-plane', { 'node-role.kubernetes.io/control-plane': '' }, 'ControlPlane'],
    ['master, as older clusters write', { 'node-role.kubernetes.io/master': '' }, 'ControlPlane'],
    ['any value', { 'node-role.kubernetes.io/control-plane': 'true' }, 'ControlPlane'],
    ['another role', { 'node-role.kubernetes.io/ingress': '' }, 'Worker'],
  ])('role: %s', (_name, labels, role) => {
    expect(roleOf(sampleNode('n', { labels }))).toBe(role)
  })

  it('a node that never said anything is a worker, not Ready, not cordoned', () => {
    const node = { metadata: metadata('n'), spec: {} }
    expect(roleOf(node)).toBe('Worker')
    expect(readyCondition(node)).toBeUndefined()
    expect(isReady(node)).toBe(false)
    expect(isCordoned(node)).toBe(false)
    expect(cordonOwner(node)).toBeUndefined()
    expect(isUnavailable(node)).toBe(true)
  })

  it.each<[string, NodeTraits, boolean]>([
    ['Ready', {}, false],
    ['not Ready', { ready: 'False' }, true],
    ['silent', { ready: 'Unknown' }, true],
    ['cordoned by a person', { cordoned: true }, true],
    ['cordoned by us', { cordoned: true, mark: 'u/1' }, true],
    ['only our mark left', { mark: 'u/1' }, false],
    ['being deleted', { deleting: true }, true],
  ])('%s: unavailable %s', (_name, traits, unavailable) => {
    expect(isUnavailable(sampleNode('n', traits))).toBe(unavailable)
  })

  it('tells whose cordon it is', () => {
    expect(cordonOwner(sampleNode('n', { cordoned: true }))).toBeUndefined()
    expect(cordonOwner(sampleNode('n', { cordoned: true, mark: 'u/1' }))).toBe('u/1')
  })
})

describe('could run', () => {
  const hard: Taint = { key: 'dedicated', value: 'db', effect: 'NoSchedule' }
  it.each<[string, { node?: NodeTraits; selector?: Record<string, string>; tolerations?: Toleration[] }, boolean]>([
    ['a free node', {}, true],
    ['a cordoned node', { node: { cordoned: true } }, false],
    ['a node that is not Ready', { node: { ready: 'False' } }, false],
    ['a node being deleted', { node: { deleting: true } }, false],
    ['selector matches', { node: { labels: { disk: 'ssd' } }, selector: { disk: 'ssd' } }, true],
    ['selector differs', { node: { labels: { disk: 'hdd' } }, selector: { disk: 'ssd' } }, false],
    ['selector missing', { selector: { disk: 'ssd' } }, false],
    ['a taint nobody tolerates', { node: { taints: [hard] } }, false],
    ['NoExecute too', { node: { taints: [{ ...hard, effect: 'NoExecute' }] } }, false],
    ['a soft taint', { node: { taints: [{ ...hard, effect: 'PreferNoSchedule' }] } }, true],
    ['equal key and value', { node: { taints: [hard] }, tolerations: [{ key: 'dedicated', value: 'db' }] }, true],
    [
      'Equal said',
      { node: { taints: [hard] }, tolerations: [{ key: 'dedicated', operator: 'Equal', value: 'db' }] },
      true,
    ],
    ['other value', { node: { taints: [hard] }, tolerations: [{ key: 'dedicated', value: 'web' }] }, false],
    ['no value for one', { node: { taints: [hard] }, tolerations: [{ key: 'dedicated' }] }, false],
    [
      'no value on both sides',
      {
        node: { taints: [{ key: 'dedicated', effect: 'NoSchedule' }] },
        tolerations: [{ key: 'dedicated', value: '' }],
      },
      true,
    ],
    ['Exists, that key', { node: { taints: [hard] }, tolerations: [{ key: 'dedicated', operator: 'Exists' }] }, true],
    ['Exists, other key', { node: { taints: [hard] }, tolerations: [{ key: 'gpu', operator: 'Exists' }] }, false],
    ['Exists, any key', { node: { taints: [hard] }, tolerations: [{ operator: 'Exists' }] }, true],
    ['Exists, empty key', { node: { taints: [hard] }, tolerations: [{ key: '', operator: 'Exists' }] }, true],
    ['that effect', { node: { taints: [hard] }, tolerations: [{ operator: 'Exists', effect: 'NoSchedule' }] }, true],
    ['other effect', { node: { taints: [hard] }, tolerations: [{ operator: 'Exists', effect: 'NoExecute' }] }, false],
    ['empty effect', { node: { taints: [hard] }, tolerations: [{ operator: 'Exists', effect: '' }] }, true],
    [
      'one of two taints tolerated',
      {
        node: { taints: [hard, { key: 'gpu', effect: 'NoSchedule' }] },
        tolerations: [{ key: 'gpu', operator: 'Exists' }],
      },
      false,
    ],
  ])('%s', (_name, { node, selector, tolerations }, runs) => {
    const pod = samplePod('p', {
      spec: { ...(selector && { nodeSelector: selector }), ...(tolerations && { tolerations }) },
    })
    expect(couldRun(sampleNode('n', node), pod)).toBe(runs)
  })
})
