import { describe, expect, it, test } from 'vitest'
import { FakeHost } from '../../../../test/agent/fake-host.ts'
import { ManualClock } from '../../../../test/fakes/manual-clock.ts'
import { MemoryDisk } from '../../../../test/fakes/memory-disk.ts'
import { setSysctl, sysctlDifference, sysctlPath } from './sysctl.ts'

const signal = new AbortController().signal
const ports = 'net.ipv4.ip_local_reserved_ports'

/** Answers as procps-ng 3.3.15 does (WriteSetting of sysctl.c), and as a kernel that is written to. */
function oldHost() {
  const host = new FakeHost(new MemoryDisk(), new ManualClock())
  const kernel = new Map<string, string>()
  host.answer = ({ argv: [program, ...words], input = '' }) => {
    const [, path = '', value = ''] = /^(.*?)=?([^=]*)$/.exec(words.at(-1) ?? '') ?? []
    if (program === 'tee') kernel.set(words.at(-1) ?? '', input)
    else if (value === '') return { exitCode: 255, stdout: '', stderr: `sysctl: malformed setting "${words.at(-1)}"` }
    else kernel.set(sysctlPath(path), `${value}\n`)
    return { exitCode: 0, stdout: '', stderr: '' }
  }
  return { host, kernel }
}

describe('a kernel setting that was empty', () => {
  it('is put back to nothing', async () => {
    const { host, kernel } = oldHost()
    await setSysctl(host, ports, '30000-32767', signal)
    expect(kernel).toEqual(new Map([[`/proc/sys/net/ipv4/ip_local_reserved_ports`, '30000-32767\n']]))
    await setSysctl(host, ports, '', signal)
    expect(kernel).toEqual(new Map([[`/proc/sys/net/ipv4/ip_local_reserved_ports`, '\n']]))
  })
})

describe('a list of ports', () => {
  // What Linux 6 gives back for what was written, by /proc/sys/net/ipv4/ip_local_reserved_ports.
  it.each([
    ['30000-32767,8080,8081', '8080-8081,30000-32767'],
    ['10250,10256-10259,10251', '10250-10251,10256-10259'],
    ['9100', '9100'],
    ['9100,9100', '9100'],
  ])('%s is the same as the kernel’s %s', (wanted, found) => {
    expect(sysctlDifference(ports, wanted, found)).toBeUndefined()
  })

  it('differs where a port does', () => {
    expect(sysctlDifference(ports, '8080,9100', '8080')).toBe(`${ports} is 8080, not 8080,9100`)
    expect(sysctlDifference('kernel.core_pattern', '2,1', '1-2')).toBe('kernel.core_pattern is 1-2, not 2,1')
  })
})

test.each([
  ['vm.swappiness', 'vm/swappiness'],
  ['net.ipv4.conf.eth0/100.rp_filter', 'net/ipv4/conf/eth0.100/rp_filter'],
  ['net/ipv4/conf/eth0.100/rp_filter', 'net/ipv4/conf/eth0.100/rp_filter'],
])('%s', (key, path) => {
  expect(sysctlPath(key)).toBe(`/proc/sys/${path}`)
})
