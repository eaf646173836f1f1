import { describe, expect, it } from 'vitest'
import { type Sighting, sentinelStatus } from './sentinel-status.ts'

const then = '2026-01-01T00:00:00.000Z'
const now = '2026-01-02T00:00:00.000Z'

describe('the first instant maintenance was asked for', () => {
  const cases: readonly { seen: Sighting['maintenanceRequired']; before?: string; since?: string }[] = [
    { seen: true, since: now },
    { seen: true, before: then, since: then },
    { seen: 'Anew', before: then, since: now },
    { seen: false, before: then },
  ]
  it.each(cases)('seen $seen, before $before: $since', ({ seen, before, since }) => {
    const status = sentinelStatus(
      before ? { maintenanceRequired: before } : undefined,
      { maintenanceRequired: seen ?? false },
      now,
    )
    expect(status.maintenanceRequired).toBe(since)
  })
})

describe('the first instant a reboot was asked for', () => {
  const cases: readonly { seen: Sighting['rebootRequired']; before?: string; since?: string }[] = [
    { seen: true, since: now },
    { seen: true, before: then, since: then },
    { seen: 'Anew', before: then, since: now },
    { seen: 'Unknown', before: then, since: then },
    { seen: 'Unknown' },
    { seen: false, before: then },
  ]
  it.each(cases)('seen $seen, before $before: $since', ({ seen, before, since }) => {
    const status = sentinelStatus(
      before ? { rebootRequired: before } : undefined,
      { rebootRequired: seen ?? false },
      now,
    )
    expect(status.rebootRequired).toBe(since)
  })
})
