import { expect, it } from 'vitest'
import { stepKind } from './step-kind.ts'

it.each([
  ['upgrade-control-plane', 'kubeadm'],
  ['restart-kubelet', 'kubelet'],
  ['settle-control-plane', 'control-plane'],
  ['install-etcd', 'etcd'],
  ['boot-image', 'osimage'],
  ['upgrade-packages', 'packages'],
  ['profile-files', 'profile'],
  ['job-rotate-disks', 'jobs'],
  ['script', 'script'],
  ['reboot', 'reboot'],
  ['what-a-stolen-token-says', 'other'],
])('%s is of %s', (name, kind) => {
  expect(stepKind(name)).toBe(kind)
})
