// Locks as dnf-plugins-core 4 writes and reads them (plugins/versionlock.py).

import { expect, test } from 'vitest'
import { isLockOf, parseLocks } from './version-locks.ts'

const kubelet = { name: 'kubelet', version: '1.35.4-150500.1.1', architecture: 'x86_64' }
const docker = { name: 'docker-ce', version: '3:27.5.1-1.el9', architecture: 'aarch64' }

test.each([
  ['kubelet-0:1.35.4-150500.1.1.*', kubelet, true],
  ['kubelet-0:1.35.3-150500.1.1.*', kubelet, true],
  ['kubelet', kubelet, true],
  ['kube*', kubelet, true],
  ['kubelet-1.35.*', kubelet, true],
  ['kubelet-1.35.4-150500.1.1.x86_64', kubelet, true],
  ['0:kubelet-1.35.4-150500.1.1.*', kubelet, true],
  ['kubelet-0:1.35.4-150500.1.1.*', { ...kubelet, name: 'kubelet-doc' }, false],
  ['kube', kubelet, false],
  ['docker-ce-27.*', docker, true],
  ['docker-ce-3:27.5.1', docker, true],
  ['docker-ce-cli-3:27.5.1-1.el9.*', docker, false],
])('%s', (lock, rpm, holds) => {
  expect(isLockOf(lock, rpm)).toBe(holds)
})

test('comments and excluded versions hold nothing', () => {
  expect(parseLocks('\n# Added lock on Sun Nov 15 09:30:55 2026\nkubelet\n!glibc-0:2.35-1.*\n')).toEqual(['kubelet'])
})
