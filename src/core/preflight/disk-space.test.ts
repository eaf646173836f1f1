import { describe, expect, it } from 'vitest'
import { answerOf, type ViewTraits } from '../../../test/samples/check-views.ts'
import { diskSpace } from './disk-space.ts'

describe('the check DiskSpace', () => {
  it.each<[string, ViewTraits, string]>([
    ['enough', {}, 'Passed: no disk has less than 2 GiB free'],
    [
      'a kubelet reports pressure',
      { hosts: { w1: { condition: 'DiskPressure' } } },
      'Failed: w1 reports DiskPressure; free its disk',
    ],
    [
      'a host has little left',
      { hosts: { w1: { facts: { freeGiB: 1 } } } },
      'Failed: w1 has less than 2 GiB free under /var; free its disk',
    ],
    [
      'a host does not say',
      { hosts: { w1: { facts: { freeGiB: undefined } } } },
      'Warning: w1 does not say how much of its disk is free',
    ],
    [
      'a node of others is not asked',
      { hosts: { w1: { left: true, condition: 'DiskPressure' }, w2: {} } },
      'Passed: no disk has less than 2 GiB free',
    ],
  ])('%s', (_name, traits, answer) => expect(answerOf(diskSpace, traits)).toBe(answer))
})
