import { describe, expect, it } from 'vitest'
import type { Sentinels } from '../../api/node-state.ts'
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

  const [early, late] = ['2026-01-01T06:00:00.000Z', '2026-01-01T18:00:00.000Z']
  const asked = { rebootRequired: then, rebootAskedIn: 'this', rebootWrittenAt: early }
  const old = { ...asked, rebootAskedIn: 'earlier' }
  const anew = { rebootRequired: now, rebootAskedIn: 'this', rebootWrittenAt: late }
  const boots: readonly [string, Sighting['rebootRequired'], Sentinels | undefined, string, Sentinels][] = [
    ['a file that was not there', true, undefined, late, anew],
    ['a file that is written again in the same boot', true, asked, late, { ...asked, rebootWrittenAt: late }],
    ['a file that outlives its boot', true, old, early, old],
    ['a file that is written again in a later boot', true, old, late, anew],
    ['a command that cannot be run in a later boot', 'Unknown', old, late, old],
    ['a file that is gone', false, old, late, {}],
  ]
  it.each(boots)('is of a boot: %s', (_, rebootRequired, before, rebootWrittenAt, expected) => {
    const seen = { rebootRequired: rebootRequired ?? false, bootID: 'this', rebootWrittenAt }
    expect(sentinelStatus(before, seen, now)).toEqual(expected)
  })

  it('of which an older agent did not tell the boot is left so until the file is written again', () => {
    const known = { rebootRequired: early }
    const seen = { rebootRequired: true, bootID: 'this' } as const
    expect(sentinelStatus(known, { ...seen, rebootWrittenAt: then }, now)).toEqual(known)
    expect(sentinelStatus(known, { ...seen, rebootWrittenAt: late }, now)).toEqual(anew)
  })
})
