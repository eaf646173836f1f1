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

  const boots: readonly { seen: Sighting['rebootRequired']; before?: string; boot?: string }[] = [
    { seen: true, boot: 'this' },
    { seen: true, before: 'earlier', boot: 'earlier' },
    { seen: 'Anew', before: 'earlier', boot: 'this' },
    { seen: 'Unknown', before: 'earlier', boot: 'earlier' },
    { seen: false, before: 'earlier' },
  ]
  it.each(boots)('is of a boot: seen $seen, before in $before: $boot', ({ seen, before, boot }) => {
    const known = before === undefined ? undefined : { rebootRequired: then, rebootAskedIn: before }
    const status = sentinelStatus(known, { rebootRequired: seen ?? false, bootID: 'this' }, now)
    expect(status.rebootAskedIn).toBe(boot)
  })

  it('of which an older agent did not tell the boot is left so', () => {
    const known = { rebootRequired: then }
    expect(sentinelStatus(known, { rebootRequired: true, bootID: 'this' }, now)).toEqual(known)
  })
})
