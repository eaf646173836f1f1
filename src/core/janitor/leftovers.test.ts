import { describe, expect, it } from 'vitest'
import { sampleNode, sampleState } from '../../../test/samples/cluster-objects.ts'
import { type Given, id, order, report, rollout, viewOf } from '../../../test/samples/node-views.ts'
import { leftoverOf } from './leftovers.ts'

const ours = { cordoned: true, mark: id }
const found = (given: Given) => {
  const { node, state, grant } = viewOf(given)
  const left = leftoverOf({ node, state, grant, isWanted: (operation) => operation === id && !given.gone })
  return left?.message
}

describe('what is left behind', () => {
  it.each<[string, Given, string | undefined]>([
    ['nothing at rest', { grant: null }, undefined],
    ['nothing under work', { node: ours, rollout: rollout('Working'), order: order() }, undefined],
    ['nothing of a person', { node: { cordoned: true }, grant: null }, undefined],
    [
      'a cordon without a slot',
      { node: ours, grant: null },
      `w1 carries the cordon or marks of ${id}, and nothing works there`,
    ],
    [
      'marks without a cordon',
      { node: { marked: true }, grant: null },
      'w1 carries the cordon or marks of ours, and nothing works there',
    ],
    [
      'an order that may run without a slot',
      { node: ours, grant: null, order: order() },
      `order ${id}/1 may run on w1 without a slot`,
    ],
    ['an order that has ended', { grant: null, order: order(), report: report('Succeeded') }, undefined],
    [
      'the failure of an operation that is gone',
      { grant: null, gone: true, rollout: rollout('Failed') },
      `w1 still tells of ${id}, which is gone`,
    ],
    ['the failure of one that is not', { grant: null, rollout: rollout('Failed') }, undefined],
    ['what is staged and wanted', { grant: null, order: order({ desired: 'Stage' }) }, undefined],
    [
      'what is staged for nobody',
      { grant: null, gone: true, order: order({ desired: 'Stage' }) },
      `w1 has staged for ${id}, which is gone`,
    ],
    [
      'a slot of an operation that is gone',
      { node: ours, gone: true },
      `w1 is held for ${id}, which is gone; it is being put back`,
    ],
    [
      'a slot of an operation that is gone, whose agent is silent',
      { node: ours, gone: true, order: order({ desired: 'Withdraw' }), report: report('Running') },
      `w1 is held for ${id}, which is gone; the agent has not said yet that order ${id}/1 has ended`,
    ],
    [
      'a cordon that was a person’s before',
      { node: { cordoned: true, marked: true }, rollout: rollout('Working', { cordon: { prior: 'Unschedulable' } }) },
      undefined,
    ],
  ])('%s', (_name, given, expected) => {
    expect(found(given)).toBe(expected)
  })

  it('is looked for also where no NodeState is', () => {
    const node = sampleNode('w1', ours)
    const isWanted = () => false
    expect(leftoverOf({ node, state: undefined, grant: undefined, isWanted })?.code).toBe('LeftBehind')
    expect(leftoverOf({ node: sampleNode('w1'), state: sampleState('w1'), grant: undefined, isWanted })).toBeUndefined()
  })
})
