import { describe, expect, it } from 'vitest'
import { kubeletArgument, removedFlagsIn, withoutRemovedFlags } from './kubelet-arguments.ts'

// As kubeadm 1.34 wrote it (app/phases/kubelet/flags.go).
const written =
  'KUBELET_KUBEADM_ARGS="--container-runtime-endpoint=unix:///run/containerd/containerd.sock --pod-infra-container-image=registry.k8s.io/pause:3.10"\n'

describe('taking out flags the target version removed', () => {
  it.each<[string, string, number, string, readonly string[]]>([
    [
      'kubeadm’s own',
      written,
      35,
      `${written.slice(0, written.indexOf(' --pod'))}"\n`,
      ['--pod-infra-container-image'],
    ],
    ['not yet removed', written, 34, written, []],
    [
      'value apart',
      "KUBELET_EXTRA_ARGS='--container-runtime remote --v 2'",
      27,
      "KUBELET_EXTRA_ARGS='--v 2'",
      ['--container-runtime'],
    ],
    ['not quoted', 'KUBELET_EXTRA_ARGS=--cloud-config= --v=2', 36, 'KUBELET_EXTRA_ARGS=--v=2', ['--cloud-config']],
    [
      'a switch has no value',
      'KUBELET_EXTRA_ARGS=--register-schedulable --v=2',
      34,
      'KUBELET_EXTRA_ARGS=--v=2',
      ['--register-schedulable'],
    ],
    [
      'a value that is missing',
      'KUBELET_EXTRA_ARGS=--cni-bin-dir --v=2',
      24,
      'KUBELET_EXTRA_ARGS=--v=2',
      ['--cni-bin-dir'],
    ],
    [
      'longer name',
      'KUBELET_EXTRA_ARGS=--container-runtime-endpoint=a',
      36,
      'KUBELET_EXTRA_ARGS=--container-runtime-endpoint=a',
      [],
    ],
    ['a comment', '# KUBELET_EXTRA_ARGS=--cloud-config=a', 36, '# KUBELET_EXTRA_ARGS=--cloud-config=a', []],
    ['another variable', 'HTTP_PROXY=--cloud-config=a', 36, 'HTTP_PROXY=--cloud-config=a', []],
    ['nothing', '', 36, '', []],
  ])('%s', (_, text, minor, expected, removed) => {
    expect(withoutRemovedFlags(text, { major: 1, minor })).toEqual({ text: expected, removed })
  })

  it('changes nothing the second time', () => {
    const once = withoutRemovedFlags(written, { major: 1, minor: 36 })
    expect(withoutRemovedFlags(once.text, { major: 1, minor: 36 })).toEqual({ text: once.text, removed: [] })
  })
})

describe('reading a flag', () => {
  it.each([
    [written, 'container-runtime-endpoint', 'unix:///run/containerd/containerd.sock'],
    ['KUBELET_EXTRA_ARGS=--node-ip 10.0.0.1', 'node-ip', '10.0.0.1'],
    [written, 'node-ip', undefined],
  ])('%s', (text, name, value) => expect(kubeletArgument(text, name)).toBe(value))
})

describe('finding removed flags in a file a person wrote', () => {
  it.each([
    ['Environment="KUBELET_EXTRA_ARGS=--cloud-config=/etc/cloud.conf --v=2"', ['--cloud-config']],
    ['KUBELET_EXTRA_ARGS=--container-runtime-endpoint=a', []],
    ['# --cloud-config=a\n; --cloud-config', []],
    ['ExecStart=/usr/bin/kubelet --register-schedulable', ['--register-schedulable']],
  ])('%s', (text, found) => expect(removedFlagsIn(text, { major: 1, minor: 36 })).toEqual(found))
})
