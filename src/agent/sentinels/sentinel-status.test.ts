import { describe, expect, it } from 'vitest'
import type { RebootFile, Sentinels } from '../../api/node-state.ts'
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
  const of = (writtenAt?: string, path = '/run/a') => ({ path, ...(writtenAt !== undefined && { writtenAt }) })
  const asked = { rebootRequired: then, rebootAskedIn: 'this', rebootFiles: [of(early)] }
  const old = { ...asked, rebootAskedIn: 'earlier' }
  const anew = (...rebootFiles: RebootFile[]) => ({ rebootRequired: now, rebootAskedIn: 'this', rebootFiles })
  const byCommand = { ...old, rebootFiles: [] }
  const { rebootFiles: _, ...ofEarlierAgent } = { ...old, rebootRequired: early }
  const both = { ...old, rebootFiles: [of(late), of(early, '/etc/b')] }
  const boots: readonly [
    string,
    Sighting['rebootRequired'],
    Sentinels,
    readonly RebootFile[] | undefined,
    Sentinels,
  ][] = [
    ['a file that was not there', true, {}, [of(late)], anew(of(late))],
    ['a file that is written again in the same boot', true, asked, [of(late)], { ...asked, rebootFiles: [of(late)] }],
    ['a file that outlives its boot', true, old, [of(early)], old],
    ['a link that outlives its boot', true, { ...old, rebootFiles: [of()] }, [of()], { ...old, rebootFiles: [of()] }],
    ['a file that is written again in a later boot', true, old, [of(late)], anew(of(late))],
    ['a file that is written in a later boot, its clock set back', true, old, [of(then)], anew(of(then))],
    [
      'another file beside one that outlives its boot',
      true,
      old,
      [of(early), of(then, '/b')],
      anew(of(early), of(then, '/b')),
    ],
    ['one of two that outlive their boot and the other one gone', true, both, [of(early, '/etc/b')], both],
    ['a file in a later boot than that of a command', true, byCommand, [of(then)], anew(of(then))],
    ['a command that still asks in a later boot', true, byCommand, [], byCommand],
    ['a file that an earlier agent noted without its time', true, ofEarlierAgent, [of(early)], ofEarlierAgent],
    ['a link that an earlier agent noted', true, ofEarlierAgent, [of()], ofEarlierAgent],
    ['a file written later than an earlier agent noted one', true, ofEarlierAgent, [of(late)], anew(of(late))],
    ['a command that an earlier agent noted', true, ofEarlierAgent, [], ofEarlierAgent],
    ['a command that cannot be run in a later boot', 'Unknown', old, undefined, old],
    ['a file that is gone', false, old, undefined, {}],
  ]
  it.each(boots)('is of a boot: %s', (_, rebootRequired, before, rebootFiles, expected) => {
    const seen = { rebootRequired: rebootRequired ?? false, bootID: 'this', ...(rebootFiles && { rebootFiles }) }
    const status = sentinelStatus(before, seen, now)
    expect(status).toEqual(expected)
    expect(sentinelStatus(status, seen, 'later')).toEqual(expected)
    // Whatever booted the host: what is still there asks for no other boot.
    expect(sentinelStatus(status, { ...seen, bootID: 'next' }, 'later')).toEqual(expected)
  })
})
