import { describe, expect, it } from 'vitest'
import { type MaintenancePolicy, restoredAnnotation } from '../../api/maintenance-policy.ts'
import { notHeard, type RollCallNode, rollCallDue, rollCallGraceMs, rollCallStatus } from './roll-call.ts'

function policy(mark: string | undefined, ledger?: { epoch: number; restored?: string }): MaintenancePolicy {
  return {
    apiVersion: 'slipway.dev/v1alpha1',
    kind: 'MaintenancePolicy',
    metadata: {
      name: 'default',
      uid: 'u',
      resourceVersion: '1',
      creationTimestamp: '2026-01-05T08:00:00Z',
      ...(mark !== undefined && { annotations: { [restoredAnnotation]: mark } }),
    },
    spec: {},
    ...(ledger && { status: { ledger: { grants: [], ...ledger } } }),
  }
}

describe('the roll is called', () => {
  it.each([
    ['never before a policy is there', undefined, 7, undefined],
    ['not in ordinary times', policy(undefined, { epoch: 7 }), 7, undefined],
    ['not for a ledger that was deleted', policy(undefined), 7, undefined],
    ['after a restore that left its mark', policy('a1', { epoch: 7 }), 3, 'a1'],
    ['also where the backup had no ledger', policy('a1'), 0, 'a1'],
    ['once for each mark', policy('a1', { epoch: 7, restored: 'a1' }), 3, undefined],
    ['again for another', policy('b2', { epoch: 7, restored: 'a1' }), 3, 'b2'],
    ['without a mark where the ledger went back', policy(undefined, { epoch: 6 }), 7, 'epoch-7'],
  ])('%s', (_, found, highest, name) => {
    expect(rollCallDue(found, highest)).toBe(name)
  })
})

describe('the word that is missing', () => {
  const nodes: readonly RollCallNode[] = [
    { name: 'answered', isReady: true, agent: { rollCall: 'a1' } },
    { name: 'silent', isReady: true, agent: { rollCall: 'old' } },
    { name: 'away', isReady: false, agent: {} },
    { name: 'bare', isReady: true, agent: undefined },
  ]

  it('is at first that of everybody who has an agent', () => {
    expect(notHeard('a1', nodes, 0)).toEqual(['away', 'silent'])
  })

  it('is later only that of nodes that are there', () => {
    expect(notHeard('a1', nodes, rollCallGraceMs)).toEqual(['silent'])
  })

  it('is told in a few names', () => {
    const many = Array.from({ length: 30 }, (_, at) => `n${at}`)
    const status = rollCallStatus('a1', new Date(0), many)
    expect(status).toMatchObject({ left: 30, reason: { code: 'RollCall' } })
    expect(status.waitingFor).toHaveLength(20)
    expect(status.reason.message).toContain('and 27 more')
  })
})
