import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { nodeProfile, stateOf } from '../../../test/samples/profiles.ts'
import { desiredStateSchema } from '../../api/desired-state.ts'
import type { NodeProfile, NodeProfileSpec } from '../../api/node-profile.ts'
import { desiredState, matching } from './desired-state.ts'
import { appliedWishes, wishesOf } from './wishes.ts'

const motd = (content: string) => ({ files: [{ path: '/etc/motd', content }] })
const compute = (...profiles: readonly NodeProfile[]) =>
  desiredState(profiles.map((profile) => wishesOf(profile, ({ content = '' }) => ({ content }))))

describe('matching', () => {
  const all = [
    nodeProfile('b', { ...motd('b'), nodeSelector: { matchLabels: { pool: 'a' } } }),
    nodeProfile('a', motd('a')),
    nodeProfile('gone', motd('c'), true),
  ]
  test('takes those that select the node, by name, and none that is being deleted', () => {
    expect(matching(all, { pool: 'a' }).map(({ metadata }) => metadata.name)).toEqual(['a', 'b'])
    expect(matching(all, {}).map(({ metadata }) => metadata.name)).toEqual(['a'])
  })
})

describe('desiredState', () => {
  test('makes files of drop-ins and of sysctls', () => {
    const state = stateOf(
      nodeProfile('base', {
        units: [{ name: 'chrony.service', enabled: true, dropIns: [{ name: 'limits.conf', content: '[Service]\n' }] }],
        sysctls: { 'vm.swappiness': '10', 'net.core.somaxconn': '1024' },
        whenRemoved: 'Keep',
      }),
    )
    const common = { profile: 'base', whenRemoved: 'Keep', mode: '0644', owner: 'root', group: 'root' }
    expect(state.files).toEqual([
      {
        ...common,
        path: '/etc/sysctl.d/90-slipway-base.conf',
        content: '# Managed by Slipway: NodeProfile base\nnet.core.somaxconn = 1024\nvm.swappiness = 10\n',
        restarts: [],
      },
      {
        ...common,
        path: '/etc/systemd/system/chrony.service.d/limits.conf',
        content: '[Service]\n',
        restarts: ['chrony.service'],
      },
    ])
    expect(state.units).toEqual([{ profile: 'base', whenRemoved: 'Keep', name: 'chrony.service', enabled: true }])
    expect(desiredStateSchema.safeParse(state).error).toBeUndefined()
  })

  test('a secret is readable by its owner only, unless the profile says otherwise', () => {
    const sealed = { secret: 's', key: 'k', version: '1', recipient: 'r', text: 't' }
    const file = { path: '/etc/token', secret: { name: 's', key: 'k' } }
    const modes = [undefined, '640'].map((mode) => {
      const profile = nodeProfile('p', { files: [{ ...file, ...(mode && { mode }) }] })
      const computed = desiredState([wishesOf(profile, () => ({ sealed }))])
      return computed.ok && computed.state.files[0]?.mode
    })
    expect(modes).toEqual(['0600', '0640'])
  })

  test('the higher priority wins, and a lower one fills in the rest', () => {
    const state = stateOf(
      nodeProfile('low', { sysctls: { 'vm.a': '1', 'vm.b': '1' } }),
      nodeProfile('high', { sysctls: { 'vm.a': '2' }, priority: 10 }),
    )
    expect(state.sysctls.map(({ key, value, profile }) => [key, value, profile])).toEqual([
      ['vm.a', '2', 'high'],
      ['vm.b', '1', 'low'],
    ])
    expect(state.files.map(({ path }) => path)).toEqual([
      '/etc/sysctl.d/90-slipway-high.conf',
      '/etc/sysctl.d/90-slipway-low.conf',
    ])
  })

  test('equal wishes are no conflict, nor are those that a third one overrules', () => {
    expect(compute(nodeProfile('a', motd('x')), nodeProfile('b', motd('x'))).ok).toBe(true)
    const three = [
      nodeProfile('a', motd('x')),
      nodeProfile('b', motd('y')),
      nodeProfile('c', { ...motd('z'), priority: 1 }),
    ]
    expect(compute(...three).ok).toBe(true)
  })

  const conflicts: readonly { what: string; a: NodeProfileSpec; b: NodeProfileSpec; item: string }[] = [
    { what: 'content', a: motd('x'), b: motd('y'), item: 'file /etc/motd' },
    {
      what: 'packages',
      a: { packages: [{ name: 'telnetd' }] },
      b: { packages: [{ name: 'telnetd', state: 'Absent' }] },
      item: 'package telnetd',
    },
    { what: 'sysctls', a: { sysctls: { 'vm.a': '1' } }, b: { sysctls: { 'vm.a': '2' } }, item: 'sysctl vm.a' },
    {
      what: 'kernel arguments',
      a: { kernelArguments: { add: ['quiet'] } },
      b: { kernelArguments: { remove: ['quiet'] } },
      item: 'kernel argument quiet',
    },
    {
      what: 'a drop-in and a file',
      a: { units: [{ name: 'a.service', dropIns: [{ name: 'x.conf', content: '' }] }] },
      b: { files: [{ path: '/etc/systemd/system/a.service.d/x.conf', content: 'other' }] },
      item: 'file /etc/systemd/system/a.service.d/x.conf',
    },
    {
      what: 'a file below a file',
      a: { files: [{ path: '/etc/a', content: '' }] },
      b: { files: [{ path: '/etc/a/b', content: '' }] },
      item: '/etc/a',
    },
  ]
  test.each(conflicts)('refuses a conflict of $what, naming both', ({ a, b, item }) => {
    const computed = compute(nodeProfile('one', a), nodeProfile('two', b))
    expect(computed).toMatchObject({ ok: false, reason: { code: 'ProfileConflict' }, profiles: ['one', 'two'] })
    expect(!computed.ok && computed.reason.message).toContain(item)
    expect(!computed.ok && computed.reason.message).toMatch(/one.*two/)
  })

  test('refuses a file managed twice within one profile', () => {
    const twice = nodeProfile('one', {
      files: [{ path: '/etc/systemd/system/a.service.d/x.conf', content: 'other' }],
      units: [{ name: 'a.service', dropIns: [{ name: 'x.conf', content: '' }] }],
    })
    expect(compute(twice)).toMatchObject({ ok: false, reason: { code: 'ProfileConflict' }, profiles: ['one'] })
    const reserved = nodeProfile('two', { files: [{ path: '/etc/sysctl.d/90-slipway-x.conf', content: '' }] })
    expect(compute(reserved)).toMatchObject({ ok: false, reason: { message: expect.stringContaining('spec.sysctls') } })
  })

  test('refuses what no ConfigMap can carry, naming the largest file', () => {
    const files = Array.from({ length: 10 }, (_, n) => ({ path: `/opt/${n}`, content: 'x'.repeat(100_000 + n) }))
    const computed = compute(nodeProfile('fat', { files }))
    expect(computed).toMatchObject({ ok: false, reason: { code: 'ProfileTooLarge' } })
    expect(!computed.ok && computed.reason.message).toContain('/opt/9')
  })

  test('does not depend on the order of the profiles', () => {
    const spec = fc.record({
      priority: fc.integer({ min: 0, max: 2 }),
      sysctls: fc.dictionary(fc.constantFrom('vm.a', 'vm.b', 'vm.c'), fc.constantFrom('1', '2'), { minKeys: 1 }),
    })
    fc.assert(
      fc.property(fc.array(spec, { minLength: 1, maxLength: 4 }), (specs) => {
        const profiles = specs.map((one, index) => nodeProfile(`p${index}`, one))
        const [forth, back] = [compute(...profiles), compute(...profiles.toReversed())]
        expect(forth.ok).toBe(back.ok)
        if (forth.ok && back.ok) expect(back.text).toBe(forth.text)
      }),
    )
  })
})

describe('appliedWishes', () => {
  test('of a state give that state again, as long as the profile is the same', () => {
    const profiles = [
      nodeProfile('a', { ...motd('x'), sysctls: { 'vm.a': '1' }, packages: [{ name: 'chrony' }] }),
      nodeProfile('b', { sysctls: { 'vm.b': '1' }, kernelArguments: { add: ['quiet'] } }),
    ]
    const before = stateOf(...profiles)
    const again = desiredState(profiles.map((profile) => appliedWishes(profile, before)))
    expect(again.ok && again.state).toEqual(before)
  })

  test('leave out what the profile has come to want since', () => {
    const before = stateOf(nodeProfile('a', motd('old')))
    const edited = nodeProfile('a', motd('new'))
    const computed = desiredState([appliedWishes(edited, before)])
    expect(computed.ok && computed.state.files[0]?.content).toBe('old')
  })
})
