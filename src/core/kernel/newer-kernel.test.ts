import { describe, expect, it } from 'vitest'
import { compareKernels } from './newer-kernel.ts'

/** The first of each list runs. */
const newer: readonly (readonly [name: string, release: string, installed: readonly string[]])[] = [
  ['Debian 12', '6.1.0-25-amd64', ['6.1.0-9-amd64', '6.1.0-25-amd64', '6.1.0-23-amd64']],
  ['Debian 13', '6.12.41+deb13-amd64', ['6.12.38+deb13-amd64', '6.12.41+deb13-amd64']],
  ['Debian with a backport', '6.9.7+bpo-amd64', ['6.1.0-25-amd64', '6.9.7+bpo-amd64']],
  ['Debian 10 with a backport', '5.10.0-0.deb10.30-amd64', ['5.10.0-0.deb10.16-amd64', '5.10.0-0.deb10.30-amd64']],
  ['Debian in a cloud', '6.1.0-25-cloud-amd64', ['6.1.0-9-cloud-amd64', '6.1.0-25-cloud-amd64', '6.1.0-26-amd64']],
  ['Ubuntu 22.04', '5.15.0-119-generic', ['5.15.0-97-generic', '5.15.0-119-generic']],
  ['Ubuntu 22.04, hardware enablement', '6.8.0-40-generic', ['5.15.0-119-generic', '6.8.0-40-generic']],
  ['Ubuntu on AWS', '6.8.0-1014-aws', ['6.8.0-1009-aws', '6.8.0-1014-aws', '6.8.0-1016-generic']],
  [
    'RHEL 9',
    '5.14.0-427.13.1.el9_4.x86_64',
    ['5.14.0-362.8.1.el9_3.x86_64', '5.14.0-427.13.1.el9_4.x86_64', '5.14.0-427.20.1.el9_4.x86_64+debug'],
  ],
  ['RHEL 8, from its first', '4.18.0-553.el8_10.x86_64', ['4.18.0-80.el8.x86_64', '4.18.0-553.el8_10.x86_64']],
  ['CentOS 7', '3.10.0-1160.119.1.el7.x86_64', ['3.10.0-957.el7.x86_64', '3.10.0-1160.119.1.el7.x86_64']],
  [
    'RHEL 9, real time',
    '5.14.0-427.13.1.el9_4.x86_64+rt',
    ['5.14.0-362.8.1.el9_3.x86_64+rt', '5.14.0-427.13.1.el9_4.x86_64+rt'],
  ],
  ['Fedora', '6.10.6-200.fc40.x86_64', ['6.9.12-200.fc39.x86_64', '6.10.6-200.fc40.x86_64']],
  ['SLES 15', '5.14.21-150500.55.73-default', ['5.14.21-150500.55.7-default', '5.14.21-150500.55.73-default']],
  ['openSUSE Leap 15.6', '6.4.0-150600.23.17-default', ['5.14.21-150500.55.73-default', '6.4.0-150600.23.17-default']],
  [
    'Amazon Linux 2',
    '5.10.223-212.873.amzn2.x86_64',
    ['5.10.199-190.747.amzn2.x86_64', '5.10.223-212.873.amzn2.x86_64'],
  ],
  [
    'Amazon Linux 2023',
    '6.1.102-111.182.amzn2023.x86_64',
    ['6.1.97-104.177.amzn2023.x86_64', '6.1.102-111.182.amzn2023.x86_64', '6.12.22-27.96.amzn2023.x86_64'],
  ],
  ['Oracle Linux', '5.15.0-207.156.6.el9uek.x86_64', ['5.15.0-9.96.5.el9uek.x86_64', '5.15.0-207.156.6.el9uek.x86_64']],
]

const newest: readonly (readonly [name: string, installed: readonly string[]])[] = [
  ['numbers are no text', ['6.1.0-25-amd64', '6.1.0-9-amd64']],
  ['an older one', ['5.15.0-119-generic', '5.15.0-97-generic']],
  ['another flavour of Debian', ['6.1.0-23-cloud-amd64', '6.1.0-25-amd64', '6.1.0-25-rt-amd64']],
  ['another flavour of Ubuntu', ['5.15.0-1065-aws', '5.15.0-119-generic', '6.8.0-40-generic-64k']],
  ['a debug kernel', ['5.14.0-427.13.1.el9_4.x86_64', '5.14.0-427.20.1.el9_4.x86_64+debug']],
  ['64k pages', ['5.14.0-427.13.1.el9_4.aarch64', '5.14.0-427.20.1.el9_4.aarch64+64k']],
  ['real time of RHEL 8', ['4.18.0-372.9.1.el8.x86_64', '4.18.0-372.32.1.rt7.189.el8_6.x86_64']],
  ['a kernel of ELRepo beside that of RHEL', ['5.14.0-427.13.1.el9_4.x86_64', '6.10.6-1.el9.elrepo.x86_64']],
  ['Oracle’s two lines', ['5.14.0-427.13.1.el9_4.x86_64', '5.15.0-207.156.6.el9uek.x86_64']],
  ['a release candidate', ['6.10.9-amd64', '6.11-rc6-amd64']],
  ['another flavour of SUSE', ['6.4.0-150600.23.14-default', '6.4.0-150600.23.17-azure']],
  ['a name of no known shape beside', ['6.1.0-25-amd64', 'extra', '6.2.0']],
]

const unknown: readonly (readonly [name: string, running: string, installed: readonly string[]])[] = [
  ['no kernel is installed', '6.1.0-25-amd64', []],
  ['it was removed, or booted from elsewhere', '6.1.0-23-amd64', ['6.1.0-25-amd64']],
  ['it was built by hand', '6.1.0', ['6.1.0']],
  [
    'two series of Amazon Linux',
    '6.1.102-111.182.amzn2023.x86_64',
    ['6.1.102-111.182.amzn2023.x86_64', '6.12.22-27.96.amzn2023.x86_64'],
  ],
  [
    'two series of ELRepo',
    '5.4.281-1.el9.elrepo.x86_64',
    ['5.4.281-1.el9.elrepo.x86_64', '6.10.6-1.el9.elrepo.x86_64'],
  ],
]

describe('a newer kernel', () => {
  it.each(newer)('%s: %s', (_, release, installed) => {
    expect(compareKernels(installed[0] ?? '', installed)).toEqual({ kind: 'Newer', release })
  })

  it.each(newest)('is none: %s', (_, installed) => {
    expect(compareKernels(installed[0] ?? '', installed)).toEqual({ kind: 'Newest' })
  })

  it.each(unknown)('is not claimed where %s', (_, running, installed) => {
    expect(compareKernels(running, installed)).toEqual({ kind: 'Unknown', because: expect.stringContaining(running) })
  })
})
