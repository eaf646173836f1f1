import { afterAll, describe, expect, it } from 'vitest'
import { FakeKubeApi } from '../../../test/fakes/fake-kube-api.ts'
import { fixedRandom } from '../../../test/fakes/fixed-random.ts'
import { ManualClock } from '../../../test/fakes/manual-clock.ts'
import { RecordingLog } from '../../../test/fakes/recording-log.ts'
import type { ForeignLock } from '../../api/foreign-lock.ts'
import { daemonSets } from '../../api/kube.ts'
import { KubeError } from '../../api/kube-error.ts'
import { ForeignLocks } from './foreign-locks.ts'

const ref = { namespace: 'kube-system', name: 'kured' }
const lock: ForeignLock = { type: 'Kured', daemonSet: ref }
const annotation = 'weave.works/kured-node-lock'
const stranger = JSON.stringify({ nodeID: 'w9', created: '2026-01-01T00:00:00Z', TTL: 0 })
const life = new AbortController()
const { signal } = life
afterAll(() => life.abort())

/** Locks that know of kured, whose watch is silent from then on. */
async function following() {
  const api = new FakeKubeApi().put(daemonSets, kured())
  const clock = new ManualClock()
  const ports = { api, clock, random: fixedRandom(), log: new RecordingLog() }
  const locks = new ForeignLocks(ports, () => undefined, signal)
  await locks.follow([lock], signal)
  await expect.poll(() => locks.standing().closed).toBeUndefined()
  api.muted = true
  return { api, clock, locks }
}

function kured(annotations: Readonly<Record<string, string>> = {}) {
  return { metadata: { ...ref, annotations }, spec: { selector: {}, template: { spec: { containers: [] } } } }
}

const owner = (api: FakeKubeApi) =>
  JSON.parse(api.found(daemonSets, ref).metadata.annotations?.[annotation] ?? '{}').nodeID

describe('a lock whose DaemonSet somebody wrote meanwhile', () => {
  it('is taken and given back at once, without waiting for the watch', async () => {
    const { api, locks } = await following()
    api.put(daemonSets, kured({ note: 'a status was written' }))
    await locks.take(signal)
    expect(owner(api)).toBe('slipway')
    expect(locks.standing().areOurs).toBe(true)
    const { annotations } = api.found(daemonSets, ref).metadata
    api.put(daemonSets, kured({ ...annotations, note: 'another one was' }))
    await locks.giveBack(signal)
    expect(owner(api)).toBeUndefined()
  })

  it('is left to whoever was faster', async () => {
    const { api, locks } = await following()
    api.put(daemonSets, kured({ [annotation]: stranger }))
    await locks.take(signal)
    expect(owner(api)).toBe('w9')
    expect(locks.standing()).toMatchObject({ areOurs: false, closed: { code: 'ForeignLockHeld' } })
  })

  it('is not fought for', async () => {
    const { api, locks } = await following()
    let writes = 0
    api.before = (verb) => {
      if (verb !== 'patch') return
      writes++
      api.put(daemonSets, kured({ note: String(writes) }))
    }
    await locks.take(signal)
    expect(writes).toBe(3)
    expect(locks.standing().areOurs).toBe(false)
  })
})

describe('a write that nobody answers', () => {
  const unanswered = new KubeError('Timeout', 'no answer within 30 s')

  /** Given back, but nobody says so. */
  async function givenBack() {
    const { api, locks } = await following()
    await locks.take(signal)
    api.before = (verb) => {
      if (verb !== 'patch') return
      api.before = () => undefined
      api.put(daemonSets, kured())
      throw unanswered
    }
    await expect(locks.giveBack(signal)).rejects.toBe(unanswered)
    return { api, locks }
  }

  it('makes nobody believe that the lock is ours', async () => {
    const { api, locks } = await givenBack()
    expect(locks.standing()).toMatchObject({ areOurs: false, closed: { code: 'ForeignLockUnknown' } })
    await locks.follow([lock], signal)
    expect(locks.standing()).toMatchObject({ areOurs: false, closed: undefined })
    api.put(daemonSets, kured({ [annotation]: stranger }))
    await locks.take(signal)
    expect(owner(api)).toBe('w9')
  })

  it('is made up for before the lock is left alone', async () => {
    const { api, locks } = await following()
    await locks.take(signal)
    api.before = (verb) => {
      if (verb === 'patch') throw unanswered
    }
    await expect(locks.giveBack(signal)).rejects.toBe(unanswered)
    api.before = () => undefined
    await locks.follow([], signal)
    await locks.giveBackLeft(signal)
    expect(owner(api)).toBeUndefined()
  })
})

describe('a lock of ours that the policy does not name any more', () => {
  async function left(refuse: KubeError) {
    const { api, clock, locks } = await following()
    await locks.take(signal)
    api.before = (verb) => {
      if (verb === 'patch') throw refuse
    }
    await locks.follow([], signal)
    return { api, clock, locks }
  }

  it('holds up nobody while a webhook keeps it from being given back, and is given back after that', async () => {
    const broken = new KubeError('ServerError', 'failed calling webhook', { status: 500 })
    const { api, locks } = await left(broken)
    expect(locks.standing()).toMatchObject({ closed: undefined, areOurs: true })
    expect(locks.isFollowing([])).toBe(true)
    await expect(locks.giveBackLeft(signal)).rejects.toBe(broken)
    api.before = () => undefined
    await locks.follow([], signal)
    await locks.giveBackLeft(signal)
    expect(owner(api)).toBeUndefined()
  })

  it('is tried again where we have no right to it, and is not forgotten', async () => {
    const { api, clock, locks } = await left(
      new KubeError('Forbidden', 'daemonsets.apps is forbidden', { status: 403 }),
    )
    await locks.giveBackLeft(signal)
    expect(owner(api)).toBe('slipway')
    const { againMs } = locks.standing()
    expect(againMs).toBe(15_000)
    api.before = () => undefined
    await clock.advance(againMs ?? 0)
    await locks.giveBackLeft(signal)
    expect(owner(api)).toBeUndefined()
    expect(locks.standing().againMs).toBeUndefined()
  })

  it('is ours still where the policy names it again', async () => {
    const { api, locks } = await left(new KubeError('Forbidden', 'daemonsets.apps is forbidden', { status: 403 }))
    await locks.giveBackLeft(signal)
    api.before = () => undefined
    await locks.follow([lock], signal)
    await locks.giveBackLeft(signal)
    expect(owner(api)).toBe('slipway')
    expect(locks.standing()).toMatchObject({ closed: undefined, areOurs: true })
  })
})

describe('a write that is refused', () => {
  const forbidden = new KubeError('Forbidden', 'daemonsets.apps "kured" is forbidden', { status: 403 })
  const refuse = (api: FakeKubeApi) => {
    let writes = 0
    api.before = (verb) => {
      if (verb !== 'patch') return
      writes++
      throw forbidden
    }
    return () => writes
  }

  it('closes the lock until another one goes well, which is due after a while', async () => {
    const { api, clock, locks } = await following()
    refuse(api)
    await locks.take(signal)
    const refused = { areOurs: false, closed: { code: 'ForeignLockUnknown' }, againMs: 15_000 }
    expect(locks.standing()).toMatchObject({ ...refused, isToTryAgain: false })
    await clock.advance(15_000)
    expect(locks.standing()).toMatchObject({ ...refused, isToTryAgain: true })
    await locks.take(signal)
    expect(locks.standing()).toMatchObject({ ...refused, isToTryAgain: false })
    api.before = () => undefined
    await clock.advance(15_000)
    await locks.take(signal)
    expect(locks.standing()).toMatchObject({ areOurs: true, closed: undefined, isToTryAgain: false })
  })

  it('keeps nobody from seeing that the lock went to somebody else', async () => {
    const { api, locks } = await following()
    refuse(api)
    await locks.take(signal)
    api.muted = false
    api.put(daemonSets, kured({ [annotation]: stranger }))
    expect(locks.standing()).toMatchObject({ closed: { code: 'ForeignLockHeld' }, isToTryAgain: false })
    expect([...locks.standing().foreign.keys()]).toEqual(['w9'])
    api.remove(daemonSets, ref)
    expect(locks.standing()).toMatchObject({ areOurs: true, closed: undefined })
  })

  it('leaves a lock of ours under its old terms until it may be written', async () => {
    const { api, clock, locks } = await following()
    await locks.take(signal)
    const writes = refuse(api)
    const to = { ...lock, maxOwners: 3 }
    await locks.follow([to], signal)
    await locks.follow([to], signal)
    expect(writes()).toBe(1)
    expect(locks.isFollowing([to])).toBe(false)
    expect(locks.standing()).toMatchObject({ closed: { code: 'ForeignLockUnknown' } })
    api.before = () => undefined
    await clock.advance(15_000)
    await locks.follow([to], signal)
    expect(locks.isFollowing([to])).toBe(true)
    expect(locks.standing()).toMatchObject({ areOurs: true, closed: undefined })
    expect(api.found(daemonSets, ref).metadata.annotations?.[annotation]).toContain('maxOwners')
  })
})

it('new terms that were refused and are taken back close nothing any more', async () => {
  const { api, locks } = await following()
  await locks.take(signal)
  const forbidden = new KubeError('Forbidden', 'daemonsets is forbidden')
  api.before = (verb) => {
    if (verb === 'patch') throw forbidden
  }
  await locks.follow([{ ...lock, maxOwners: 3 }], signal)
  expect(locks.standing().closed).toBeDefined()
  await locks.follow([lock], signal)
  expect(locks.standing()).toMatchObject({ areOurs: true, closed: undefined })
})

describe('a lock whose tool is removed while its new terms are refused', () => {
  it('follows them at once', async () => {
    const { api, locks } = await following()
    await locks.take(signal)
    api.before = (verb) => {
      if (verb === 'patch') throw new KubeError('Forbidden', 'daemonsets.apps "kured" is forbidden', { status: 403 })
    }
    const to = { ...lock, maxOwners: 3 }
    await locks.follow([to], signal)
    api.muted = false
    api.remove(daemonSets, ref)
    await locks.follow([to], signal)
    expect(locks.isFollowing([to])).toBe(true)
    expect(locks.standing()).toMatchObject({ areOurs: true, closed: undefined, againMs: undefined })
  })
})

describe('a lock of ours whose terms the policy changes', () => {
  const us = { nodeID: 'slipway' }
  const text = (api: FakeKubeApi, key = annotation) =>
    JSON.parse(api.found(daemonSets, ref).metadata.annotations?.[key] ?? 'null')

  /** Held by us; then what stood in the annotation after each write. */
  async function edited(to: ForeignLock, from = lock) {
    const { api, locks } = await following()
    await locks.follow([from], signal)
    await locks.take(signal)
    const writes: unknown[] = []
    api.after = (verb) => {
      if (verb === 'patch') writes.push(text(api))
    }
    await locks.follow([to], signal)
    await locks.giveBackLeft(signal)
    return { api, locks, writes }
  }

  it.each<[string, ForeignLock]>([
    ['the annotation, to what it was by default', { ...lock, annotation }],
    ['the number of owners, to what it was by default', { ...lock, maxOwners: 1 }],
    ['the number of owners', { ...lock, maxOwners: 3 }],
  ])('is held on: %s', async (_name, to) => {
    const { api, locks, writes } = await edited(to)
    expect(writes).not.toContain(null)
    expect(JSON.stringify(text(api))).toContain('slipway')
    expect(locks.standing()).toMatchObject({ areOurs: true, closed: undefined })
    expect(locks.isFollowing([to])).toBe(true)
    expect(locks.isFollowing([lock])).toBe(false)
    await locks.giveBack(signal)
    expect(text(api)).toBeNull()
  })

  it('stands from then on in the form its tool reads', async () => {
    const { api } = await edited({ ...lock, maxOwners: 3 })
    expect(text(api)).toMatchObject({ maxOwners: 3, locks: [us] })
  })

  it('leaves the others their place when there is less room', async () => {
    const { api, locks } = await edited({ ...lock, maxOwners: 1 }, { ...lock, maxOwners: 3 })
    const others = [{ nodeID: 'w8' }, { nodeID: 'w9' }]
    api.put(daemonSets, kured({ [annotation]: JSON.stringify({ maxOwners: 3, locks: [...others, us] }) }))
    await locks.giveBack(signal)
    expect(text(api)).toMatchObject({ locks: others })
  })

  it('is tried again where the write of it failed', async () => {
    const { api, locks } = await following()
    await locks.take(signal)
    const to = { ...lock, maxOwners: 3 }
    api.failure = new KubeError('ServerError', 'etcdserver: leader changed')
    await expect(locks.follow([to], signal)).rejects.toThrow('leader changed')
    expect(locks.isFollowing([to])).toBe(false)
    api.failure = undefined
    await locks.follow([to], signal)
    expect(text(api)).toMatchObject({ maxOwners: 3, locks: [us] })
  })

  it('is given back where it is another from then on', async () => {
    const { api, locks } = await edited({ ...lock, annotation: 'example.org/lock' })
    expect(text(api)).toBeNull()
    expect(locks.isFollowing([lock])).toBe(false)
  })

  it('is one, also where the policy names it twice', async () => {
    const { locks } = await following()
    const twice = [lock, lock, { ...lock, annotation }]
    await locks.follow(twice, signal)
    expect(locks.isFollowing(twice)).toBe(true)
  })
})
