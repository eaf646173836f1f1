import { expect, it } from 'vitest'
import { versionsInBundle } from './versions-in-bundle.ts'

const files = (...paths: readonly string[]) => ({ files: paths.map((path) => ({ path, bytes: 1, sha256: '' })) })

it.each([
  ['Debian', ['packages/deb/kubeadm_1.36.3-1.1_amd64.deb', 'packages/deb/kubelet_1.36.3-1.1_amd64.deb'], ['v1.36.3']],
  [
    'with an epoch',
    ['packages/deb/kubeadm_1%3a1.36.3-1_amd64.deb', 'packages/deb/kubelet_1:1.36.3-1_amd64.deb'],
    ['v1.36.3'],
  ],
  [
    'RPM, two versions',
    ['1.35.4', '1.36.3'].flatMap((one) => [
      `packages/rpm/kubeadm-${one}-150500.1.1.x86_64.rpm`,
      `packages/rpm/kubelet-${one}-150500.1.1.x86_64.rpm`,
    ]),
    ['v1.35.4', 'v1.36.3'],
  ],
  [
    'a pre-release',
    ['packages/deb/kubeadm_1.37.0~rc.1-1.1_amd64.deb', 'packages/deb/kubelet_1.37.0~rc.1-1.1_amd64.deb'],
    ['v1.37.0-rc.1'],
  ],
  ['no kubelet', ['packages/deb/kubeadm_1.36.3-1.1_amd64.deb'], []],
  ['other things', ['images/kubeadm-1.36.3-x.tar', 'packages/deb/kubectl_1.36.3-1.1_amd64.deb'], []],
])('what a bundle has of Kubernetes: %s', (_name, paths, versions) =>
  expect(versionsInBundle(files(...paths))).toEqual(versions),
)
