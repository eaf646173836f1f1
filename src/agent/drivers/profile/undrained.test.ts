import { describe, expect, test } from 'vitest'
import { ProfileBench } from '../../../../test/agent/profile-bench.ts'
import { nodeProfile, stateOf } from '../../../../test/samples/profiles.ts'

const path = '/etc/kubelet.d/house.conf'
const units = ['kubelet.service']

const base = (motd: string) =>
  stateOf(
    nodeProfile('base', {
      files: [
        { path, content: 'ours\n', restarts: ['kubelet.service'] },
        { path: '/etc/motd', content: motd },
        { path: '/etc/chrony.conf', content: 'ours\n', restarts: ['chrony.service'] },
      ],
      units: [{ name: 'containerd.service', state: 'Running' }],
    }),
  )

/** Everything is as wanted, by an order that had the node drained. */
async function appliedBench(): Promise<{ readonly b: ProfileBench; readonly restarts: () => readonly string[] }> {
  const b = new ProfileBench()
  for (const name of ['kubelet.service', 'containerd.service', 'chrony.service']) {
    b.system.units.set(name, { load: 'loaded', active: 'active', file: 'enabled' })
  }
  b.start()
  await b.apply(base('hello\n'))
  const before = b.system.restarts.length
  return { b, restarts: () => b.system.restarts.slice(before) }
}

describe('an order on a node that stays at work', () => {
  test('puts right what has drifted and disturbs nobody', async () => {
    const { b, restarts } = await appliedBench()
    await b.writeFile('/etc/chrony.conf', 'theirs\n')
    const order = await b.applyUndrained(base('another\n'))
    expect(order?.state).toBe('Succeeded')
    expect(restarts()).toEqual(['chrony.service'])
  })

  test.each([
    { what: 'a file that the kubelet reads', drifts: (b: ProfileBench) => b.writeFile(path, 'theirs\n'), names: path },
    {
      what: 'a container runtime that was stopped',
      drifts: (b: ProfileBench) => {
        b.system.units.set('containerd.service', { load: 'loaded', active: 'inactive', file: 'enabled' })
      },
      names: 'containerd.service',
    },
  ])('ends before it touches anything where this has drifted: $what', async ({ drifts, names }) => {
    const { b, restarts } = await appliedBench()
    await drifts(b)
    const order = await b.applyUndrained(base('another\n'))
    expect(order).toMatchObject({ state: 'Failed', reason: { code: 'DrainNeeded' } })
    expect(order?.reason?.message).toContain(names)
    expect(b.system.fileText('/etc/motd')).toBe('hello\n')
    expect(restarts()).toEqual([])
  })

  test('ends where an earlier order left the kubelet to be restarted', async () => {
    const { b, restarts } = await appliedBench()
    b.system.broken.add('kubelet.service')
    const failed = await b.apply(stateOf(nodeProfile('base', { files: [{ path, content: 'new\n', restarts: units }] })))
    expect(failed?.state).toBe('Failed')
    b.system.broken.delete('kubelet.service')
    await b.writeFile(path, 'ours\n')
    const before = restarts().length
    const order = await b.applyUndrained(base('another\n'))
    expect(order).toMatchObject({ state: 'Failed', reason: { code: 'DrainNeeded' } })
    expect(restarts().slice(before)).toEqual([])
  })

  test('goes on where the profile itself says that it never drains', async () => {
    const { b, restarts } = await appliedBench()
    await b.writeFile(path, 'theirs\n')
    const order = await b.applyUndrained(base('another\n'), ['base'])
    expect(order?.state).toBe('Succeeded')
    expect(restarts()).toEqual(['kubelet.service'])
  })

  test('with the node drained all of it is put right', async () => {
    const { b, restarts } = await appliedBench()
    await b.writeFile(path, 'theirs\n')
    const order = await b.apply(base('another\n'))
    expect(order?.state).toBe('Succeeded')
    expect(restarts()).toEqual(['kubelet.service'])
  })
})
