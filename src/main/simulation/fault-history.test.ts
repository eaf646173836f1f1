import { describe, expect, it } from 'vitest'
import { combinationName, combinationsIn, faultCombinations } from '../../sim/fault-combination.ts'
import { faultKinds } from '../../sim/fault-plan.ts'
import { drawHistory } from './fault-history.ts'

const planned = (seed: number) => {
  const { chances, events } = drawHistory(seed, { kinds: faultKinds }).plan
  return combinationName(faultKinds.filter((kind) => kind in chances || events.some((event) => event.kind === kind)))
}

describe('histories', () => {
  it('of odd seeds go through every kind alone and every pair', () => {
    const names = faultCombinations().map(combinationName)
    expect(names).toHaveLength(28 + 378)
    const drawn = names.map((_, index) => planned(2 * index + 1))
    expect(drawn).toEqual(names)
    expect(planned(2 * names.length + 1)).toBe(names[0])
  })

  it('have every kind of thing beside the update, seldom', () => {
    const drawn = Array.from(
      { length: 1000 },
      (_, at) => drawHistory(at + 1, { kinds: faultKinds }).scenario.extras.beside,
    )
    const kinds = drawn.flatMap((beside) => beside?.kind ?? [])
    expect(new Set(kinds)).toEqual(new Set(['Cupcake', 'Housekeeper', 'Scheduled', 'Image']))
    expect(kinds.length).toBeLessThan(80)
  })

  it('of some kinds hold no other', () => {
    const { chances, events } = drawHistory(5, { kinds: ['conflict', 'power-loss'] }).plan
    expect(Object.keys(chances)).toEqual(['conflict'])
    expect(events.map(({ kind }) => kind)).toEqual(['power-loss'])
  })
})

it('what struck is told as pairs, or alone', () => {
  expect(combinationsIn([])).toEqual([])
  expect(combinationsIn(['conflict', 'conflict'])).toEqual(['conflict'])
  expect(combinationsIn(['power-loss', 'conflict', 'clock-skew'])).toEqual([
    'conflict + power-loss',
    'conflict + clock-skew',
    'power-loss + clock-skew',
  ])
})
