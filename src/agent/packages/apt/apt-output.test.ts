// Outputs recorded from apt 2.6.1 (Debian 12) and, where marked, as Ubuntu's apt writes them.

import { describe, expect, it } from 'vitest'
import { archiveName, parseDownloads, parseGrowth, parseOffers, parseSimulation } from './apt-output.ts'

describe('parseSimulation', () => {
  it('reads installations with and without a version before, and removals', () => {
    const text = `The following held packages will be changed:
  kubelet
2 upgraded, 0 newly installed, 0 to remove and 0 not upgraded.
Inst kubernetes-cni [1.5.0-1.1] (1.6.0-1.1 10.77.1.1 [amd64])
Inst libnew (2:1.0-1 Ubuntu:22.04/jammy-updates, Ubuntu:22.04/jammy-security [all]) []
Inst libc6:i386 [2.36-9] (2.36-9+deb12u7 Debian-Security:12/stable-security [i386])
Inst local [1.0] (2.0 [amd64])
Remv old [1.0] [other:amd64 ]
Conf kubernetes-cni (1.6.0-1.1 10.77.1.1 [amd64])
`
    const parsed = parseSimulation(text)
    expect(parsed.installations).toEqual([
      {
        name: 'kubernetes-cni',
        previous: '1.5.0-1.1',
        version: '1.6.0-1.1',
        architecture: 'amd64',
        origins: ['10.77.1.1'],
      },
      {
        name: 'libnew',
        previous: undefined,
        version: '2:1.0-1',
        architecture: 'all',
        origins: ['Ubuntu:22.04/jammy-updates', 'Ubuntu:22.04/jammy-security'],
      },
      {
        name: 'libc6:i386',
        previous: '2.36-9',
        version: '2.36-9+deb12u7',
        architecture: 'i386',
        origins: ['Debian-Security:12/stable-security'],
      },
      { name: 'local', previous: '1.0', version: '2.0', architecture: 'amd64', origins: [] },
    ])
    expect(parsed.removals).toEqual(['old'])
    expect(parsed.installations.map(archiveName)).toEqual([
      'kubernetes-cni_1.6.0-1.1_amd64.deb',
      'libnew_2%3a1.0-1_all.deb',
      'libc6_2.36-9+deb12u7_i386.deb',
      'local_2.0_amd64.deb',
    ])
  })

  it('reads what was kept back, over several lines', () => {
    const text =
      'Calculating upgrade...\nThe following packages have been kept back:\n  a b\n  c\nThe following packages will be upgraded:\n  d\n'
    expect(parseSimulation(text).keptBack).toEqual(['a', 'b', 'c'])
    expect(parseSimulation('0 upgraded').keptBack).toEqual([])
  })
})

describe('parseDownloads', () => {
  it('takes only what has a SHA-256', () => {
    const sha256 = '16e4069fd216395539a9b9c534135de9a2673fc226314910e047f39b557240e3'
    const text = `'http://h/./a_1%3a2_amd64.deb' a_1%3a2_amd64.deb 864 SHA256:${sha256}\n'http://h/b.deb' b_1_all.deb 1 MD5Sum:40c0df719b693f61aa8a5412d745600b\n`
    expect(parseDownloads(text)).toEqual([{ fileName: 'a_1%3a2_amd64.deb', bytes: 864, sha256 }])
  })
})

describe('parseGrowth', () => {
  it.each([
    ['After this operation, 0 B of additional disk space will be used.', 0],
    ['After this operation, 12.3 MB of additional disk space will be used.', 12_300_000],
    ['After this operation, 1,024 kB of additional disk space will be used.', 1_024_000],
    ['After this operation, 5 MB disk space will be freed.', 0],
  ])('%s', (text, bytes) => {
    expect(parseGrowth(text)).toBe(bytes)
  })
})

describe('parseOffers', () => {
  it('keeps the order and tells packages apart', () => {
    const text = `   kubelet | 1.36.3-1.1 | http://h/v1.36/deb  Packages
   kubelet | 1.36.3-1.1 | http://mirror/v1.36/deb  Packages
   kubelet | 1.36.2-1.1 | http://h/v1.36/deb  Packages
   kubeadm | 1.36.3-1.1 | http://h/v1.36/deb  Packages
`
    expect(parseOffers(text)).toEqual(
      new Map([
        ['kubelet', ['1.36.3-1.1', '1.36.2-1.1']],
        ['kubeadm', ['1.36.3-1.1']],
      ]),
    )
  })
})
