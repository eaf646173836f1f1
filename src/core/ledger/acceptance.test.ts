import { describe, expect, it } from 'vitest'
import type { MaintenancePolicy, MaintenancePolicySpec } from '../../api/maintenance-policy.ts'
import { acceptanceOf } from './acceptance.ts'

const now = new Date('2026-01-05T08:00:00Z')

function policy(
  spec: MaintenancePolicySpec,
  generation: number,
  status?: MaintenancePolicy['status'],
): MaintenancePolicy {
  const metadata = {
    name: 'default',
    uid: 'u',
    resourceVersion: '1',
    creationTimestamp: '2026-01-01T00:00:00Z',
    generation,
  }
  return { apiVersion: 'slipway.dev/v1alpha1', kind: 'MaintenancePolicy', metadata, spec, ...(status && { status }) }
}

describe('a policy', () => {
  it('is accepted, and told so once', () => {
    const told = acceptanceOf(policy({}, 1), now)
    expect(told).toMatchObject({ observedGeneration: 1, conditions: [{ type: 'Accepted', status: 'True' }] })
    expect(acceptanceOf(policy({}, 1, { conditions: [...(told?.conditions ?? [])] }), now)).toBeUndefined()
  })

  it.each([
    {
      name: 'a zone that is unknown',
      windows: [{ start: '22:00', end: '04:00', timeZone: 'Mars/Olympus' }],
      says: 'Mars/Olympus',
    },
    { name: 'a time that never comes', windows: [{ cron: '30 2 30 2 *', duration: '1h' }], says: '30 2 30 2 *' },
  ])('with $name is not', ({ windows, says }) => {
    const [condition] = acceptanceOf(policy({ windows }, 2), now)?.conditions ?? []
    expect(condition).toMatchObject({
      status: 'False',
      reason: 'CalendarInvalid',
      message: expect.stringContaining(says),
    })
  })

  it('with a backup that never comes is not', () => {
    const store = { name: 'nightly', path: '/b', schedule: { cron: '30 2 30 2 *' } }
    expect(acceptanceOf(policy({ backupStores: [store] }, 2), now)?.conditions).toMatchObject([
      { status: 'False', reason: 'BackupScheduleInvalid', message: expect.stringContaining('store nightly') },
    ])
  })

  it('that was put right is accepted again', () => {
    const wrong = acceptanceOf(policy({ windows: [{ cron: '30 2 30 2 *', duration: '1h' }] }, 2), now)
    const right = policy({ windows: [{ cron: '30 2 * * *', duration: '1h' }] }, 3, {
      conditions: [...(wrong?.conditions ?? [])],
    })
    expect(acceptanceOf(right, now)?.conditions).toMatchObject([{ status: 'True', observedGeneration: 3 }])
  })
})
