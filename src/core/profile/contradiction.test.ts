import { describe, expect, test } from 'vitest'
import { nodeProfile } from '../../../test/samples/profiles.ts'
import type { DirectUpdateSpec } from '../../api/direct-update.ts'
import type { NodeProfileSpec } from '../../api/node-profile.ts'
import { contradiction } from './contradiction.ts'

const kubernetes = { version: 'v1.36.3' }
const pin = (name: string, version: string, hold?: boolean): NodeProfileSpec => ({
  packages: [{ name, version, ...(hold !== undefined && { hold }) }],
})
const binary = { name: 'k3s', url: 'https://a.example/k3s', sha256: 'ab'.repeat(32), path: '/usr/local/bin/k3s' }

const cases: readonly { what: string; update: DirectUpdateSpec; profile: NodeProfileSpec; says?: string }[] = [
  { what: 'another kubelet', update: { kubernetes }, profile: pin('kubelet', '1.35.*'), says: 'pins package kubelet' },
  { what: 'this minor', update: { kubernetes }, profile: pin('kubelet', '1.36.*') },
  { what: 'this version', update: { kubernetes }, profile: pin('kubeadm', '1.36.3-1.1') },
  {
    what: 'a version that only begins alike',
    update: { kubernetes },
    profile: pin('kubeadm', '1.36.30'),
    says: 'pins package kubeadm to 1.36.30',
  },
  {
    what: 'no kubectl',
    update: { kubernetes },
    profile: { packages: [{ name: 'kubectl', state: 'Absent' }] },
    says: 'wants package kubectl absent',
  },
  { what: 'a runtime that is not touched', update: { kubernetes }, profile: pin('containerd', '2.1.*') },
  {
    what: 'a runtime',
    update: { kubernetes: { ...kubernetes, components: ['containerd'] } },
    profile: pin('containerd', '2.1.*', true),
    says: 'pins package containerd to 2.1.*',
  },
  { what: 'a held package', update: { os: { packages: 'All' } }, profile: pin('chrony', '4.*', true) },
  { what: 'a runtime left alone', update: { os: { packages: 'All' } }, profile: pin('containerd', '2.1.*') },
  { what: 'a pin', update: { os: { packages: 'All' } }, profile: pin('chrony', '4.*'), says: 'set hold: true' },
  {
    what: 'the same file',
    update: { binary },
    profile: { files: [{ path: '/usr/local/bin/k3s', content: '' }] },
    says: 'replaces /usr/local/bin/k3s',
  },
  { what: 'a hold alone', update: { kubernetes }, profile: { packages: [{ name: 'kubelet', hold: true }] } },
]

describe('contradiction', () => {
  test.each(cases)('of $what: $says', ({ update, profile, says }) => {
    const reason = contradiction('to-1-36', update, [nodeProfile('base', profile)])
    if (says === undefined) expect(reason).toBeUndefined()
    else {
      expect(reason?.code).toBe('ProfileContradicted')
      expect(reason?.message).toContain(says)
      expect(reason?.message).toMatch(/DirectUpdate to-1-36 .*NodeProfile base/)
    }
  })
})
