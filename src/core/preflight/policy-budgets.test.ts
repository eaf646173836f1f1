import { describe, expect, it } from 'vitest'
import { answerOf, type ViewTraits } from '../../../test/samples/check-views.ts'
import { policyBudgets } from './policy-budgets.ts'

const hosts = { c1: {}, w1: { ready: 'False' as const, left: true }, w2: {}, w3: {} }
const room = 'Passed: the budgets of MaintenancePolicy/default leave room'

describe('the check PolicyBudgets', () => {
  it.each<[string, ViewTraits, string]>([
    ['none', { hosts }, room],
    ['room left', { hosts, policy: { budgets: [{ maxUnavailable: 2 }] } }, room],
    [
      'spent',
      { hosts, policy: { budgets: [{ maxUnavailable: 2 }, { maxUnavailable: '25%' }] } },
      'Warning: a budget of MaintenancePolicy/default allows 25% nodes away, and w1 is: nothing starts before one is back',
    ],
    [
      'paused',
      { policy: { paused: true } },
      'Warning: MaintenancePolicy/default is paused: nothing starts before spec.paused is false',
    ],
  ])('%s', (_name, traits, answer) => expect(answerOf(policyBudgets, traits)).toBe(answer))
})
