import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sampleNode } from '../../../test/samples/cluster-objects.ts'
import { type Turn, turnKey, turnOrder, weightOf, zoneOf } from './turn-order.ts'

const turn = (name: string, weight = 0, zone = ''): Turn => ({
  ...{ name, key: turnKey(name), weight, zone },
  role: name.startsWith('c') ? 'ControlPlane' : 'Worker',
})
const names = (turns: readonly Turn[]) => turnOrder(turns).map(({ name }) => name)

describe('the order of turns', () => {
  it.each<[string, readonly Turn[], readonly string[]]>([
    ['by name, numbers as numbers', [turn('w10'), turn('w2'), turn('w1')], ['w1', 'w2', 'w10']],
    ['the control plane first', [turn('a1'), turn('c2'), turn('c1')], ['c1', 'c2', 'a1']],
    ['heavier ones first', [turn('w1'), turn('w2', 5), turn('w3', -1)], ['w2', 'w1', 'w3']],
    [
      'zones in turn',
      [turn('w1', 0, 'a'), turn('w2', 0, 'a'), turn('w3', 0, 'b'), turn('w4', 0, 'b'), turn('w5', 0, 'a')],
      ['w1', 'w3', 'w2', 'w4', 'w5'],
    ],
    [
      'weight before zone',
      [turn('w1', 0, 'a'), turn('w2', 9, 'a'), turn('w3', 9, 'a'), turn('w4', 0, 'b')],
      ['w2', 'w3', 'w1', 'w4'],
    ],
  ])('%s', (_name, turns, expected) => {
    expect(names(turns)).toEqual(expected)
  })

  const anyTurns = fc.uniqueArray(
    fc
      .tuple(fc.integer({ min: 1, max: 30 }), fc.constantFrom(0, 0, 5), fc.constantFrom('', 'a', 'b', 'c'))
      .map(([n, weight, zone]) => turn(`w${n}`, weight, zone)),
    { selector: ({ name }) => name, minLength: 2 },
  )

  it('does not depend on the order in which nodes are found', () => {
    fc.assert(
      fc.property(anyTurns, fc.nat(), (turns, by) => {
        const turned = [...turns.slice(by % turns.length), ...turns.slice(0, by % turns.length)]
        expect(names(turned)).toEqual(names(turns))
      }),
    )
  })

  it('moves nobody back when a node leaves', () => {
    fc.assert(
      fc.property(anyTurns, fc.nat(), (turns, which) => {
        const gone = turns[which % turns.length]?.name
        const before = names(turns)
        const after = names(turns.filter(({ name }) => name !== gone))
        for (const [place, name] of after.entries()) expect(place).toBeLessThanOrEqual(before.indexOf(name))
      }),
    )
  })
})

it('weight and zone are read off labels; a weight that is no whole number is none', () => {
  const labelled = (labels: Record<string, string>) => sampleNode('w1', { labels })
  expect(weightOf(labelled({ 'slipway.dev/weight': '10' }))).toBe(10)
  expect(weightOf(labelled({ 'slipway.dev/weight': '-3' }))).toBe(-3)
  expect(weightOf(labelled({ 'slipway.dev/weight': 'heavy' }))).toBe(0)
  expect(weightOf(sampleNode('w1'))).toBe(0)
  expect(zoneOf(labelled({ 'topology.kubernetes.io/zone': 'b' }))).toBe('b')
})

it('names come before weights, in the order in which they are written', () => {
  const heavy = sampleNode('w1', { labels: { 'slipway.dev/weight': '999999999' } })
  const first = ['w9', 'w2']
  expect(weightOf(sampleNode('w9'), first)).toBeGreaterThan(weightOf(sampleNode('w2'), first))
  expect(weightOf(sampleNode('w2'), first)).toBeGreaterThan(weightOf(heavy, first))
  expect(weightOf(sampleNode('w3'), first)).toBe(0)
})
