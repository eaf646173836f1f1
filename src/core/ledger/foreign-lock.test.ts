import { describe, expect, it } from 'vitest'
import type { ForeignLock } from '../../api/foreign-lock.ts'
import { judgeLock, lockAnnotation, lockWithoutUs, lockWithUs } from './foreign-lock.ts'

const now = new Date('2026-01-01T12:00:00.000Z')
const created = '2026-01-01T11:00:00Z'
const hour = 3_600e9
const kured: ForeignLock = { type: 'Kured', daemonSet: { namespace: 'kube-system', name: 'kured' } }
const two: ForeignLock = { ...kured, maxOwners: 2 }
const owner = (nodeID: string, TTL = 0) => ({ nodeID, metadata: { unschedulable: false }, created, TTL })
const one = (nodeID: string, TTL = 0) => JSON.stringify(owner(nodeID, TTL))
const several = (...nodeIDs: readonly string[]) =>
  JSON.stringify({ maxOwners: 2, locks: nodeIDs.map((nodeID) => owner(nodeID)) })
const held =
  'w9 holds annotation weave.works/kured-node-lock of DaemonSet kube-system/kured since 2026-01-01T11:00:00Z; it goes on when that is released'

describe('the lock of another tool', () => {
  it.each<[string, ForeignLock, string | undefined, object]>([
    ['nobody has', kured, undefined, { lock: 'free', strangers: [] }],
    ['an empty one', kured, '', { lock: 'free', strangers: [] }],
    [
      'a stranger has',
      kured,
      one('w9'),
      { lock: 'closed', strangers: ['w9'], reason: { code: 'ForeignLockHeld', message: held } },
    ],
    ['we have, also from an operator that is dead', kured, one('slipway'), { lock: 'ours', strangers: [] }],
    [
      'a stranger has for a while',
      kured,
      one('w9', 2 * hour),
      { lock: 'closed', expiresAt: now.getTime() + 3_600_000 },
    ],
    ['a stranger had for too long', kured, one('w9', hour), { lock: 'free', strangers: [] }],
    ['one of two have', two, several('w9'), { lock: 'free', strangers: ['w9'] }],
    ['two of two have', two, several('w8', 'w9'), { lock: 'closed', strangers: ['w8', 'w9'] }],
    ['we and a stranger have', two, several('w9', 'slipway'), { lock: 'ours', strangers: ['w9'] }],
    ['nobody has any more, of two', two, '{"maxOwners":2,"locks":null}', { lock: 'free', strangers: [] }],
    ['nobody can read', kured, 'mine!', { lock: 'closed', reason: { code: 'ForeignLockUnknown' } }],
    ['no tool would write', kured, '{"owner":"w9"}', { lock: 'closed', reason: { code: 'ForeignLockUnknown' } }],
  ])('%s', (_name, lock, text, expected) => {
    expect(judgeLock(lock, text, now)).toMatchObject(expected)
  })

  it.each<[string, ForeignLock, string | undefined, readonly string[]]>([
    ['alone', kured, undefined, []],
    ['after one whose time is over', kured, one('w9', hour), []],
    ['besides a stranger', two, several('w9'), ['w9']],
    ['as one of two', two, undefined, []],
  ])('taken %s is ours, and given back as the others left it', (_name, lock, text, strangers) => {
    const taken = lockWithUs(lock, text, now)
    expect(judgeLock(lock, taken, now)).toMatchObject({ lock: 'ours', strangers })
    const back = lockWithoutUs(lock, taken)
    expect(back && JSON.parse(back)).toEqual(strangers.length === 0 ? null : JSON.parse(several(...strangers)))
  })

  it('is written in the form its tool reads', () => {
    const us = { nodeID: 'slipway', metadata: { unschedulable: false }, created: now.toISOString(), TTL: 0 }
    expect(JSON.parse(lockWithUs(kured, undefined, now))).toEqual(us)
    expect(JSON.parse(lockWithUs(two, undefined, now))).toEqual({ maxOwners: 2, locks: [us] })
  })

  it('with more owners than the policy has room for takes nobody’s place', () => {
    const strangers = { lock: 'ours', strangers: ['w8', 'w9'] }
    expect(judgeLock(kured, lockWithUs(kured, several('w8', 'w9', 'slipway'), now), now)).toMatchObject(strangers)
    const back = lockWithoutUs(kured, several('w8', 'w9', 'slipway'))
    expect(judgeLock(kured, back ?? '', now)).toMatchObject({ lock: 'closed', strangers: ['w8', 'w9'] })
  })

  it.each<[ForeignLock['type'], string | undefined, string]>([
    ['Kured', undefined, 'weave.works/kured-node-lock'],
    ['Kustodian', undefined, 'k8s.io/kustodian-node-lock'],
    ['Kured', 'example.org/lock', 'example.org/lock'],
  ])('of %s with annotation %s is %s', (type, annotation, expected) => {
    expect(lockAnnotation({ ...kured, type, ...(annotation !== undefined && { annotation }) })).toBe(expected)
  })
})
