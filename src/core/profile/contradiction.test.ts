import { describe, expect, test } from 'vitest'
import { sampleNode } from '../../../test/samples/cluster-objects.ts'
import { nodeProfile } from '../../../test/samples/profiles.ts'
import type { Node } from '../../api/kube.ts'
import type { NodeProfileSpec } from '../../api/node-profile.ts'
import type { Work } from '../../api/work.ts'
import { contradiction } from './contradiction.ts'

const kubernetes = { version: 'v1.36.3' }
const pin = (name: string, version: string, hold?: boolean): NodeProfileSpec => ({
  packages: [{ name, version, ...(hold !== undefined && { hold }) }],
})
const binary = { name: 'k3s', url: 'https://a.example/k3s', sha256: 'ab'.repeat(32), path: '/usr/local/bin/k3s' }
const packagesOf = (minor: string) => `https://pkgs.k8s.io/core:/stable:/${minor}/deb/`
const aptFrom = (...uris: string[]): NodeProfileSpec => ({
  repositories: [{ name: 'kubernetes', apt: { uris, suites: ['/'], signedBy: '/etc/apt/keyrings/k.gpg' } }],
})
const dnfFrom = (baseurl: string): NodeProfileSpec => ({
  repositories: [{ name: 'kubernetes', dnf: { baseurl, gpgkey: `${baseurl}repodata/repomd.xml.key` } }],
})
const fileOf = (path: string, content: string): NodeProfileSpec => ({ files: [{ path, content }] })

const cases: readonly { what: string; update: Work; profile: NodeProfileSpec; says?: string }[] = [
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
  ...['docker-ce', 'docker.io', 'moby-engine', 'moby-containerd', 'cri-o', 'iSulad', 'cri-dockerd'].map((name) => ({
    what: name,
    update: { kubernetes: { ...kubernetes, components: ['containerd' as const] } },
    profile: pin(name, '1.*', true),
    says: `brings ${name} to the newest on offer, but NodeProfile base pins package ${name} to 1.*`,
  })),
  {
    what: 'a runtime that is to be gone, since only what is installed is upgraded',
    update: { kubernetes: { ...kubernetes, components: ['containerd'] } },
    profile: { packages: [{ name: 'docker.io', state: 'Absent' }] },
  },
  ...['etcd', 'etcd-server', 'etcd-client'].map((name) => ({
    what: name,
    update: { kubernetes: { ...kubernetes, components: ['etcd' as const] } },
    profile: pin(name, '3.5.*'),
    says: `brings ${name} to the newest on offer, but NodeProfile base pins package ${name} to 3.5.*`,
  })),
  {
    what: 'an etcd at a version that looks like the target’s',
    update: { kubernetes: { ...kubernetes, components: ['etcd'] } },
    profile: pin('etcd', '1.36.*'),
    says: 'brings etcd to the newest on offer',
  },
  { what: 'an etcd that is not touched', update: { kubernetes }, profile: pin('etcd-server', '3.5.*') },
  { what: 'a held package', update: { os: { packages: 'All' } }, profile: pin('chrony', '4.*', true) },
  { what: 'a runtime left alone', update: { os: { packages: 'All' } }, profile: pin('containerd', '2.1.*') },
  ...['runc', 'crun', 'docker-ce-cli'].map((name) => ({
    what: name,
    update: { os: { packages: 'All' as const } },
    profile: pin(name, '1.*'),
    says: `pins package ${name} to 1.* without hold: set hold: true`,
  })),
  ...['etcd-server', 'cri-tools', 'moby-containerd', 'docker-engine', 'kubectl', 'kubernetes-cni'].map((name) => ({
    what: `${name}, which is left alone`,
    update: { os: { packages: 'All' as const } },
    profile: pin(name, '1.*'),
  })),
  { what: 'a pin', update: { os: { packages: 'All' } }, profile: pin('chrony', '4.*'), says: 'set hold: true' },
  {
    what: 'the same file',
    update: { binary },
    profile: { files: [{ path: '/usr/local/bin/k3s', content: '' }] },
    says: 'replaces /usr/local/bin/k3s',
  },
  {
    what: 'a repository of another minor',
    update: { kubernetes },
    profile: aptFrom(packagesOf('v1.35')),
    says: 'names https://pkgs.k8s.io/core:/stable:/v1.35/deb/ in repository kubernetes: write v1.36 there',
  },
  {
    what: 'a mirror of another minor',
    update: { kubernetes },
    profile: aptFrom(packagesOf('v1.36'), 'https://mirror.example/kubernetes/v1.35'),
    says: 'names https://mirror.example/kubernetes/v1.35 in',
  },
  {
    what: 'dnf’s repository of another minor',
    update: { kubernetes: { ...kubernetes, components: ['kubelet'] } },
    profile: dnfFrom('https://pkgs.k8s.io/core:/stable:/v1.35/rpm/'),
    says: 'DirectUpdate to-1-36 switches the repository of Kubernetes packages to v1.36',
  },
  { what: 'a repository of this minor', update: { kubernetes }, profile: aptFrom(packagesOf('v1.36')) },
  { what: 'a repository of others', update: { kubernetes }, profile: aptFrom('https://example.org/tool/v1.35/deb') },
  {
    what: 'a repository, with nothing of its packages',
    update: { kubernetes: { ...kubernetes, components: ['containerd', 'etcd'] } },
    profile: aptFrom(packagesOf('v1.35')),
  },
  {
    what: 'a repository, with a bundle',
    update: { kubernetes, bundle: { sha256: 'ab'.repeat(32), url: 'https://a.example/bundle' } },
    profile: aptFrom(packagesOf('v1.35')),
  },
  {
    what: 'a repository, with an image',
    update: { kubernetes, os: { image: 'registry.example/node:2' } },
    profile: aptFrom(packagesOf('v1.35')),
  },
  {
    what: 'a list of apt',
    update: { kubernetes },
    profile: fileOf('/etc/apt/sources.list.d/kubernetes.list', `deb ${packagesOf('v1.35')} /\n`),
    says: 'keeps /etc/apt/sources.list.d/kubernetes.list at another minor version: write v1.36 there',
  },
  {
    what: 'a repository file of dnf',
    update: { kubernetes },
    profile: fileOf('/etc/yum.repos.d/k.repo', '[k]\nbaseurl=https://pkgs.k8s.io/core:/stable:/v1.35/rpm/\n'),
    says: 'keeps /etc/yum.repos.d/k.repo at another minor version',
  },
  {
    what: 'a list of this minor',
    update: { kubernetes },
    profile: fileOf('/etc/apt/sources.list', `deb ${packagesOf('v1.36')} /\n`),
  },
  {
    what: 'a file that apt does not read',
    update: { kubernetes },
    profile: fileOf('/etc/apt/sources.list.d/k.list.old', `deb ${packagesOf('v1.35')} /\n`),
  },
  {
    what: 'a list that comes from elsewhere',
    update: { kubernetes },
    profile: { files: [{ path: '/etc/apt/sources.list', configMap: { name: 'apt', key: 'list' } }] },
  },
  { what: 'a hold alone', update: { kubernetes }, profile: { packages: [{ name: 'kubelet', hold: true }] } },
]

const newest: Work = { kubernetes: { ...kubernetes, components: ['containerd'] } }
const running = (name: string, runtime: string, labels = {}): Node => {
  const node = sampleNode(name, { labels })
  return {
    ...node,
    status: {
      ...node.status,
      nodeInfo: { kubeletVersion: 'v1.35.4', bootID: 'boot', containerRuntimeVersion: runtime },
    },
  }
}
const blockedBy = (wanted: string, ...nodes: readonly Node[]) =>
  contradiction('to-1-36', newest, [nodeProfile('base', pin(wanted, '1.*', true))], nodes) !== undefined

describe('contradiction of a runtime', () => {
  test.each([
    ['docker-ce', 'containerd://2.2.9', false],
    ['cri-dockerd', 'containerd://2.2.9', false],
    ['cri-o', 'containerd://2.2.9', false],
    ['containerd', 'containerd://2.2.9', true],
    ['moby-containerd', 'containerd://2.2.9', true],
    ['containerd.io', 'docker://28.5.1', true],
    ['docker-ce-cli', 'docker://28.5.1', true],
    ['cri-o', 'docker://28.5.1', false],
    ['cri-o', 'cri-o://1.35.0', true],
    ['containerd', 'cri-o://1.35.0', false],
    ['iSulad', 'isulad://2.1.5', true],
    ['docker-ce', 'pretend://1.0', true],
  ])('%s, on a node with %s: %s', (wanted, runtime, blocked) => {
    expect(blockedBy(wanted, running('w1', runtime))).toBe(blocked)
  })

  test('is judged on each node, and on one that says nothing as if it had any', () => {
    expect(blockedBy('cri-o', running('w1', 'containerd://2.2.9'), running('w2', 'cri-o://1.35.0'))).toBe(true)
    expect(blockedBy('cri-o', running('w1', 'containerd://2.2.9'), sampleNode('w2'))).toBe(true)
  })

  test('counts no node that the profile does not select', () => {
    const onlyA = nodeProfile('base', { ...pin('cri-o', '1.*'), nodeSelector: { matchLabels: { pool: 'a' } } })
    const nodes = [running('w1', 'containerd://2.2.9', { pool: 'a' }), running('w2', 'cri-o://1.35.0', { pool: 'b' })]
    expect(contradiction('to-1-36', newest, [onlyA], nodes)).toBeUndefined()
  })
})

describe('contradiction', () => {
  test.each(cases)('of $what: $says', ({ update, profile, says }) => {
    const reason = contradiction('to-1-36', update, [nodeProfile('base', profile)], [sampleNode('w1')])
    if (says === undefined) expect(reason).toBeUndefined()
    else {
      expect(reason?.code).toBe('ProfileContradicted')
      expect(reason?.message).toContain(says)
      expect(reason?.message).toMatch(/DirectUpdate to-1-36 .*NodeProfile base/)
    }
  })
})
