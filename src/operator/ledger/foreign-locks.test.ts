import { afterAll, describe, expect, it } from 'vitest'
import { FakeKubeApi } from '../../../test/fakes/fake-kube-api.ts'
import { fixedRandom } from '../../../test/fakes/fixed-random.ts'
import { ManualClock } from '../../../test/fakes/manual-clock.ts'
import { RecordingLog } from '../../../test/fakes/recording-log.ts'
import type { ForeignLock } from '../../api/foreign-lock.ts'
import { daemonSets } from '../../api/kube.ts'
import { ForeignLocks } from './foreign-locks.ts'

const ref = { namespace: 'kube-system', name: 'kured' }
const lock: ForeignLock = { type: 'Kured', daemonSet: ref }
const annotation = 'weave.works/kured-node-lock'
const stranger = JSON.stringify({ nodeID: 'w9', created: '2026-01-01T00:00:00Z', TTL: 0 })
const life = new AbortController()
const { signal } = life
afterAll(() => life.abort())

/** Locks that know of kured, whose watch is silent from then on. */
async function following(): Promise<{ readonly api: FakeKubeApi; readonly locks: ForeignLocks }> {
  const api = new FakeKubeApi().put(daemonSets, kured())
  const ports = { api, clock: new ManualClock(), random: fixedRandom(), log: new RecordingLog() }
  const locks = new ForeignLocks(ports, () => undefined, signal)
  await locks.follow([lock], signal)
  await expect.poll(() => locks.standing().closed).toBeUndefined()
  api.muted = true
  return { api, locks }
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
