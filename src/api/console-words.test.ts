import { expect, it } from 'vitest'
import { asOffered } from './console-words.ts'
import { reasonCatalogue } from './reason.ts'

it.each([
  ['look at its nodes, then: slipway approve to-1-36', 'look at its nodes, then: Approve'],
  ['look at its nodes, then run slipway approve', 'look at its nodes, then Approve'],
  ['paused: 3 of 9 nodes done; go on with slipway resume up', 'paused: 3 of 9 nodes done; go on with Resume'],
  ['look at each with slipway why NODE, then slipway retry to-1-36', 'look at each with Why, then Retry'],
  [
    'slipway why w1 tells what failed; slipway release w1 does without it',
    'Why tells what failed; Release does without it',
  ],
  ['slipway release NODE gives it back', 'Release gives it back'],
  ['slipway start --all goes on', 'Go on goes on'],
  ['w2 tried again; follow it: slipway status again -w', 'w2 tried again; follow it: Update'],
  ['slipway retry --profile base w3, or correct the profile', 'Retry, or correct the profile'],
  ['also now with slipway run-now NAME --reason WHY', 'also now with Run now'],
  ['is slipway console still running?', 'is slipway console still running?'],
])('%s', (sentence, said) => {
  expect(asOffered(sentence)).toBe(said)
})

it('says where', () => {
  expect(asOffered('then: slipway approve up', ' in the console')).toBe('then: Approve in the console')
})

it('what a wait is told with names no command of it any more', () => {
  const left = Object.values(reasonCatalogue).map((text) => asOffered(text))
  expect(left.filter((text) => /slipway (approve|resume|retry|release|run-now|why)/.test(text))).toEqual([])
})
