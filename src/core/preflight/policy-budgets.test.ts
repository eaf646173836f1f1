import { describe, expect, it } from 'vitest'
import { answerOf, type HostTraits, type ViewTraits } from '../../../test/samples/check-views.ts'
import { policyBudgets } from './policy-budgets.ts'

const hosts = { c1: {}, w1: { ready: 'False' as const, left: true }, w2: {}, w3: {} }
const zones: Record<string, HostTraits> = {
  w1: { ready: 'False', left: true, labels: { zone: 'a' } },
  w2: { labels: { zone: 'a' } },
  w3: { labels: { zone: 'b' } },
  w4: { cordoned: true, left: true, labels: { zone: 'c' } },
}
const room = 'Passed: the budgets of MaintenancePolicy/default leave room'

describe('the check PolicyBudgets', () => {
  it.each<[string, ViewTraits, string]>([
    ['none', { hosts }, room],
    ['room left', { hosts, policy: { budgets: [{ maxUnavailable: 2 }] } }, room],
    [
      'spent',
      { hosts, policy: { budgets: [{ maxUnavailable: 2 }, { maxUnavailable: '25%' }] } },
      'Warning: budgets of MaintenancePolicy/default are spent: the cluster (25% allowed, away: w1); there nothing starts before one is back',
    ],
    [
      'spent in one zone',
      { hosts: zones, policy: { budgets: [{ per: 'zone', maxUnavailable: 1 }] } },
      'Warning: budgets of MaintenancePolicy/default are spent: zone=a (1 allowed, away: w1); there nothing starts before one is back',
    ],
    [
      'spent where the update has no node',
      { hosts: zones, policy: { budgets: [{ nodeSelector: { matchLabels: { zone: 'c' } }, maxUnavailable: 1 }] } },
      room,
    ],
    [
      'paused',
      { policy: { paused: true } },
      'Warning: MaintenancePolicy/default is paused: nothing starts before spec.paused is false',
    ],
  ])('%s', (_name, traits, answer) => expect(answerOf(policyBudgets, traits)).toBe(answer))
})
