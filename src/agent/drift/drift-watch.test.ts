import { describe, expect, test } from 'vitest'
import { ProfileBench } from '../../../test/agent/profile-bench.ts'
import { nodeProfile, noState, stateOf } from '../../../test/samples/profiles.ts'
import type { DesiredState } from '../../api/desired-state.ts'
import type { NodeProfileSpec } from '../../api/node-profile.ts'

const state = (spec: NodeProfileSpec) => stateOf(nodeProfile('base', spec))
const motd = { path: '/etc/motd', content: 'hello\n' }
const spec: NodeProfileSpec = {
  files: [motd, { path: '/etc/kubelet.conf', content: 'a\n', restarts: ['kubelet.service'] }],
  units: [{ name: 'chrony.service', enabled: true, state: 'Running' }],
  sysctls: { 'vm.swappiness': '10' },
}

async function watched(action: 'Repair' | 'Report', wanted: DesiredState = state(spec)): Promise<ProfileBench> {
  const bench = new ProfileBench()
  bench.system.units.set('chrony.service', { load: 'loaded', active: 'inactive', file: 'disabled' })
  bench.system.units.set('kubelet.service', { load: 'loaded', active: 'active', file: 'enabled' })
  bench.system.sysctls.set('vm.swappiness', '60')
  bench.startWatching()
  await bench.apply(wanted)
  bench.cluster.placeDrift(bench.driftOf(wanted, action))
  await bench.clock.until(() => bench.profile?.checkedAt !== undefined)
  return bench
}

describe('drift', () => {
  test('is nothing on a host that is as it should be, and then nothing is written', async () => {
    const bench = await watched('Repair')
    expect(bench.profile).toMatchObject({ applied: expect.any(String), appliedAt: expect.any(String) })
    expect(bench.profile?.drift).toBeUndefined()
    bench.cluster.requests.length = 0
    await bench.clock.advance(3_600_000)
    expect(bench.cluster.requests.filter((request) => request.startsWith('patch'))).toEqual([])
  })

  test('of a file is repaired when it is changed, without waiting for the slow check', async () => {
    const bench = await watched('Repair')
    await bench.clock.advance(5_000)
    await bench.writeFile(motd.path, 'mine\n')
    await bench.clock.advance(3_000)
    expect(bench.system.fileText(motd.path)).toBe(motd.content)
    expect(bench.profile).toMatchObject({ repaired: { items: ['file /etc/motd'] } })
    expect(bench.profile?.drift).toBeUndefined()
  })

  test('of units and kernel settings is repaired at the slow check', async () => {
    const bench = await watched('Repair')
    bench.system.sysctls.set('vm.swappiness', '99')
    bench.system.units.set('chrony.service', { load: 'loaded', active: 'failed', file: 'disabled' })
    await bench.clock.advance(15 * 60_000)
    expect(bench.system.sysctls.get('vm.swappiness')).toBe('10')
    expect(bench.system.units.get('chrony.service')).toMatchObject({ active: 'active', file: 'enabled' })
    expect(bench.profile?.repaired?.items).toEqual(['sysctl vm.swappiness', 'unit chrony.service'])
  })

  test('of what the host had before is not what a removed profile leaves behind', async () => {
    const bench = new ProfileBench()
    bench.system.sysctls.set('net.ipv4.ip_forward', '1')
    await bench.writeFile(motd.path, motd.content)
    bench.startWatching()
    const wanted = state({ files: [motd], sysctls: { 'net.ipv4.ip_forward': '1' } })
    await bench.apply(wanted)
    bench.cluster.placeDrift(bench.driftOf(wanted, 'Repair'))
    await bench.clock.until(() => bench.profile?.checkedAt !== undefined)
    bench.system.sysctls.set('net.ipv4.ip_forward', '0')
    await bench.host.files.remove(motd.path)
    await bench.clock.advance(15 * 60_000)
    expect(bench.profile?.repaired?.items).toEqual(['file /etc/motd', 'sysctl net.ipv4.ip_forward'])
    await bench.apply(noState)
    expect(bench.system.sysctls.get('net.ipv4.ip_forward')).toBe('1')
    expect(bench.system.fileText(motd.path)).toBe(motd.content)
  })

  test('of a setting that comes with a module is repaired with the file that names the module', async () => {
    const key = 'net.bridge.bridge-nf-call-iptables'
    const unit = 'systemd-modules-load.service'
    const file = { path: '/etc/modules-load.d/k8s.conf', content: 'br_netfilter\n', restarts: [unit] }
    const bench = new ProfileBench()
    bench.system.units.set(unit, { load: 'loaded', active: 'active', file: 'static' })
    bench.system.onStart.set(unit, () => bench.system.sysctls.set(key, '0'))
    bench.startWatching()
    const wanted = state({ files: [file], sysctls: { [key]: '1' } })
    await bench.apply(wanted)
    bench.cluster.placeDrift(bench.driftOf(wanted, 'Repair'))
    await bench.clock.advance(5_000)
    bench.system.sysctls.delete(key)
    await bench.writeFile(file.path, '')
    await bench.clock.advance(3_000)
    expect(bench.system.sysctls.get(key)).toBe('1')
    expect(bench.profile?.drift).toBeUndefined()
  })

  test('is only told of where the profiles say Report', async () => {
    const bench = await watched('Report')
    await bench.clock.advance(5_000)
    await bench.writeFile(motd.path, 'mine\n')
    await bench.clock.advance(3_000)
    expect(bench.system.fileText(motd.path)).toBe('mine\n')
    expect(bench.profile?.drift).toEqual([
      { item: 'file /etc/motd', reason: { code: 'Drifted', message: '/etc/motd has other content' } },
    ])
  })

  test('that would need a drain is told of, never repaired', async () => {
    const bench = await watched('Repair')
    await bench.clock.advance(5_000)
    await bench.writeFile('/etc/kubelet.conf', 'mine\n')
    await bench.clock.advance(3_000)
    expect(bench.system.fileText('/etc/kubelet.conf')).toBe('mine\n')
    expect(bench.profile?.drift?.map(({ item }) => item)).toEqual(['file /etc/kubelet.conf'])
    expect(bench.system.restarts).toEqual(['kubelet.service'])
  })

  test('is repaired without the restart that a failed order still owes a node at work', async () => {
    const conf = { path: '/etc/containerd/config.toml', restarts: ['containerd.service'] }
    const chrony = { path: '/etc/chrony.conf', restarts: ['chrony.service'] }
    const files = [motd, { ...chrony, content: 'a\n' }, { ...conf, content: 'a\n' }]
    const bench = new ProfileBench()
    for (const name of ['containerd.service', 'chrony.service']) {
      bench.system.units.set(name, { load: 'loaded', active: 'active', file: 'enabled' })
    }
    bench.startWatching()
    await bench.apply(state({ files }))
    bench.system.broken.add('containerd.service')
    const next = state({ files: [...files.slice(0, 2), { ...conf, content: 'b\n' }] })
    const failed = await bench.apply(next)
    expect(failed?.state).toBe('Failed')
    bench.system.broken.delete('containerd.service')
    const before = bench.system.restarts.length
    bench.cluster.placeDrift(bench.driftOf(state({ files }), 'Repair'))
    await bench.clock.advance(5_000)
    await bench.writeFile(chrony.path, 'mine\n')
    await bench.clock.advance(3_000)
    expect(bench.system.fileText(chrony.path)).toBe('a\n')
    expect(bench.system.restarts.slice(before)).toEqual(['chrony.service'])
    const drained = await bench.apply(next)
    expect(drained?.state).toBe('Succeeded')
    expect(bench.system.restarts.slice(before)).toEqual(['chrony.service', 'containerd.service'])
  })

  test('is not over before the units that read a file were restarted, each once', async () => {
    const units = ['chrony.service', 'rsyslog.service']
    const conf = { path: '/etc/own.conf', content: 'a\n', restarts: units }
    const bench = new ProfileBench()
    for (const name of units) bench.system.units.set(name, { load: 'loaded', active: 'active', file: 'enabled' })
    bench.startWatching()
    const wanted = state({ files: [conf] })
    await bench.apply(wanted)
    bench.cluster.placeDrift(bench.driftOf(wanted, 'Repair'))
    await bench.clock.advance(5_000)
    bench.system.broken.add('rsyslog.service')
    const before = bench.system.restarts.length
    await bench.writeFile(conf.path, 'mine\n')
    await bench.clock.advance(3_000)
    expect(bench.system.fileText(conf.path)).toBe('a\n')
    expect(bench.profile?.drift?.map(({ item }) => item)).toEqual(['restart of rsyslog.service'])
    await bench.clock.advance(20 * 60_000)
    bench.system.broken.delete('rsyslog.service')
    await bench.clock.advance(20 * 60_000)
    expect(bench.profile?.drift).toBeUndefined()
    expect(bench.profile?.repaired?.items).toEqual(['restart of rsyslog.service'])
    expect(bench.system.units.get('rsyslog.service')?.active).toBe('active')
    expect(bench.system.restarts.slice(before).filter((unit) => unit === 'chrony.service')).toHaveLength(1)
  })

  test('that cannot be repaired is told of, and not tried without a pause', async () => {
    const bench = await watched('Repair')
    bench.system.broken.add('chrony.service')
    bench.system.units.set('chrony.service', { load: 'loaded', active: 'failed', file: 'enabled' })
    const starts = () =>
      bench.system.commands.filter((command) => command === 'systemctl start -- chrony.service').length
    const before = starts()
    await bench.clock.advance(15 * 60_000)
    expect(bench.profile?.drift?.map(({ item }) => item)).toEqual(['unit chrony.service'])
    expect(starts() - before).toBeLessThan(5)
  })

  test('is nobody’s business while an order is open', async () => {
    const bench = await watched('Repair')
    await bench.clock.advance(5_000)
    bench.want(state({ ...spec, files: [{ ...motd, content: 'next\n' }] }), { desired: 'Stage' })
    await bench.clock.until(() => bench.order?.state === 'Staged')
    await bench.writeFile(motd.path, 'mine\n')
    await bench.clock.advance(20 * 60_000)
    expect(bench.system.fileText(motd.path)).toBe('mine\n')
  })

  test('is not looked for in a state that is not applied yet', async () => {
    const bench = await watched('Repair')
    const next = state({ files: [{ ...motd, content: 'next\n' }] })
    bench.cluster.placeDrift(bench.driftOf(next, 'Repair'))
    await bench.clock.advance(20 * 60_000)
    expect(bench.system.fileText(motd.path)).toBe(motd.content)
    expect(bench.profile?.checkedAt).toBeUndefined()
  })

  test('what is applied is told of as soon as an order ended, and that nothing is', async () => {
    const bench = new ProfileBench()
    bench.startWatching()
    await bench.apply(state({ files: [motd] }))
    await bench.clock.until(() => bench.profile?.applied !== undefined)
    await bench.apply(noState)
    await bench.clock.until(() => bench.profile === undefined)
  })
})
