import { describe, expect, test } from 'vitest'
import { nodeProfile, noState, stateOf } from '../../../test/samples/profiles.ts'
import type { Disruption, NodeProfileSpec } from '../../api/node-profile.ts'
import { changesBetween, disturbance } from './disturbance.ts'

const state = (spec: NodeProfileSpec) => stateOf(nodeProfile('p', spec))
const file = (content: string, restarts: string[] = []) => ({ files: [{ path: '/etc/a', content, restarts }] })

describe('disturbance', () => {
  const cases: readonly { what: string; spec: NodeProfileSpec; setting: Disruption; level: string }[] = [
    { what: 'a sysctl', spec: { sysctls: { 'vm.a': '1' } }, setting: 'Auto', level: 'None' },
    { what: 'a file', spec: file('x', ['chrony.service']), setting: 'Auto', level: 'None' },
    { what: 'a file of the kubelet', spec: file('x', ['kubelet.service']), setting: 'Auto', level: 'Drain' },
    { what: 'a file of k0s', spec: file('x', ['k0sworker.service']), setting: 'Auto', level: 'Drain' },
    { what: 'a package', spec: { packages: [{ name: 'chrony' }] }, setting: 'Auto', level: 'None' },
    { what: 'a runtime', spec: { packages: [{ name: 'containerd' }] }, setting: 'Auto', level: 'Drain' },
    ...[
      ...['containerd.io', 'moby-containerd', 'docker.io', 'docker-ce', 'docker-engine', 'moby-engine', 'cri-dockerd'],
      ...[
        'cri-o',
        'iSulad',
        'runc',
        'crun',
        'moby-runc',
        'etcd',
        'etcd-server',
        'kubelet',
        'kubeadm',
        'kubernetes-cni',
      ],
    ].map((name) => ({ what: name, spec: { packages: [{ name }] }, setting: 'Auto' as const, level: 'Drain' })),
    ...['docker-ce-cli', 'docker-cli', 'moby-cli', 'etcd-client', 'kubectl', 'cri-tools'].map((name) => ({
      ...{ what: `${name}, which people call`, spec: { packages: [{ name }] } },
      ...{ setting: 'Auto' as const, level: 'None' },
    })),
    { what: 'a file of etcd', spec: file('x', ['etcd.service']), setting: 'Auto', level: 'Drain' },
    { what: 'a file of Docker’s CRI', spec: file('x', ['cri-docker.service']), setting: 'Auto', level: 'Drain' },
    { what: 'a unit', spec: { units: [{ name: 'a.service', enabled: true }] }, setting: 'Auto', level: 'None' },
    {
      what: 'the runtime’s unit',
      spec: { units: [{ name: 'containerd.service', dropIns: [{ name: 'a.conf', content: '' }] }] },
      setting: 'Auto',
      level: 'Drain',
    },
    { what: 'a kernel argument', spec: { kernelArguments: { add: ['a'] } }, setting: 'Auto', level: 'Reboot' },
    { what: 'a runtime that may', spec: { packages: [{ name: 'runc' }] }, setting: 'None', level: 'None' },
    { what: 'a sysctl that must', spec: { sysctls: { 'vm.a': '1' } }, setting: 'Reboot', level: 'Reboot' },
    { what: 'a careful sysctl', spec: { sysctls: { 'vm.a': '1' } }, setting: 'Drain', level: 'Drain' },
    { what: 'a late argument', spec: { kernelArguments: { add: ['a'] } }, setting: 'Drain', level: 'Reboot' },
  ]
  test.each(cases)('of $what with $setting is $level, coming and going', ({ spec, setting, level }) => {
    expect(disturbance(noState, state(spec), () => setting)).toMatchObject({ ok: true, level })
    expect(disturbance(state(spec), noState, () => setting)).toMatchObject({ ok: true, level })
  })

  test('is none where nothing on the host changes', () => {
    const spec = file('x', ['kubelet.service'])
    const after = stateOf(nodeProfile('other', { ...spec, whenRemoved: 'Keep' }))
    expect(disturbance(state(spec), after, () => 'Reboot')).toMatchObject({ ok: true, level: 'None', changes: 0 })
  })

  test('looks at what restarted before as well as at what restarts now', () => {
    const [before, after] = [state(file('x', ['kubelet.service'])), state(file('y'))]
    expect(changesBetween(before, after)).toEqual([{ item: 'file /etc/a', profile: 'p', level: 'Drain' }])
  })

  test('refuses a reboot the profile does not allow, naming the item and the profile', () => {
    const verdict = disturbance(noState, state({ kernelArguments: { add: ['quiet'] } }), () => 'None')
    expect(verdict).toMatchObject({ ok: false, reason: { code: 'DisruptionRefused' }, profiles: ['p'] })
    expect(!verdict.ok && verdict.reason.message).toContain('kernel argument quiet')
  })
})
