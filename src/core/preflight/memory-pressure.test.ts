import { describe, expect, it } from 'vitest'
import { answerOf, type ViewTraits } from '../../../test/samples/check-views.ts'
import { memoryPressure } from './memory-pressure.ts'

describe('the check MemoryPressure', () => {
  it.each<[string, ViewTraits, string]>([
    ['none', {}, 'Passed: no node reports MemoryPressure'],
    [
      'on any node, for it gets the pods of others',
      { hosts: { w1: {}, w2: { left: true, condition: 'MemoryPressure' } } },
      'Failed: w2 reports MemoryPressure; it would get the pods of drained nodes besides',
    ],
  ])('%s', (_name, traits, answer) => expect(answerOf(memoryPressure, traits)).toBe(answer))
})
