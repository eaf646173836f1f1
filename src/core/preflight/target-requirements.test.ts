import { describe, expect, it } from 'vitest'
import { answerOf, justReboot, type ViewTraits } from '../../../test/samples/check-views.ts'
import { requirements } from './requirements.ts'
import { targetRequirements } from './target-requirements.ts'

const to = (version: string) => ({ spec: { kubernetes: { version } } })
const old = (facts: object, kubelet = 'v1.33.9') => ({ hosts: { c1: { kubelet, facts } } })
const memberAt = (version: string, place: 'Local' | 'External' = 'Local') => {
  const members = [{ id: '1', name: 'c1', learner: false, healthy: true, leader: true, version }]
  const etcd = { place, members, alarms: [], ...(place === 'Local' && { member: '1' }) }
  const agent = { controlPlane: { checkedAt: '2026-06-01T00:00:00Z', etcd } }
  return { hosts: { c1: { kubelet: 'v1.33.9', facts: { etcd: undefined }, agent } } }
}

describe('the check TargetRequirements', () => {
  it.each<[string, ViewTraits, string | RegExp | undefined]>([
    ['all there', {}, 'Passed: the hosts have what v1.36.3 asks for'],
    ['no Kubernetes work', { spec: justReboot }, undefined],
    [
      'containerd 1',
      { hosts: { w1: { runtime: 'containerd://1.7.27' }, w2: {} } },
      /^Failed: Kubernetes 1\.36 needs containerd 2\.0 or later: w1 has containerd 1\.7\.27 \(https:/,
    ],
    [
      'containerd 1 with a distribution’s words',
      { hosts: { w1: { runtime: 'containerd://1.6.20~ds1' } } },
      /^Failed: /,
    ],
    ['another runtime', { hosts: { w1: { runtime: 'cri-o://1.35.0' } } }, /^Passed: /],
    ['containerd 1 within 1.35', { hosts: { w1: { runtime: 'containerd://1.7.27' } }, ...to('v1.35.9') }, /^Passed: /],
    [
      'containerd 1 where 1.36 runs already',
      { hosts: { w1: { runtime: 'containerd://1.7.27', kubelet: 'v1.36.0' } } },
      /^Passed: /,
    ],
    [
      'cgroup v1',
      { ...old({ cgroup: 'v1' }, 'v1.34.0'), ...to('v1.35.4') },
      /^Failed: Kubernetes 1\.35 needs cgroup v2 .*: c1 has cgroup v1/,
    ],
    [
      'a cgroup nobody knows',
      { ...old({ cgroup: undefined }, 'v1.34.0'), ...to('v1.35.4') },
      /^Unknown: Kubernetes 1\.35 needs cgroup v2 .*: c1 does not say/,
    ],
    [
      'an old etcd',
      { ...old({ etcd: '3.5.24-0' }), ...to('v1.34.0') },
      /^Failed: .*etcd 3\.5\.26.*: c1 has etcd 3\.5\.24-0/,
    ],
    ['an etcd that is new enough', { ...old({ etcd: '3.5.26-0' }), ...to('v1.34.0') }, /^Passed: /],
    [
      'an etcd nobody knows',
      { ...old({ etcd: undefined }), ...to('v1.34.0') },
      /^Unknown: Kubernetes 1\.34 needs etcd.*: c1 does not say/,
    ],
    [
      'an etcd whose image has no version for a tag',
      { ...old({ etcd: 'latest' }), ...to('v1.34.0') },
      /^Unknown: Kubernetes 1\.34 needs etcd.*: c1 does not say/,
    ],
    [
      'the version that the member of this host tells',
      { ...memberAt('3.5.24'), ...to('v1.34.0') },
      /^Failed: .*etcd 3\.5\.26.*: c1 has etcd 3\.5\.24/,
    ],
    ['a member that is new enough', { ...memberAt('3.5.26'), ...to('v1.34.0') }, /^Passed: /],
    ['an etcd on other hosts', { ...memberAt('3.5.24', 'External'), ...to('v1.34.0') }, /^Passed: /],
    [
      'no etcd, as the policy says',
      { ...old({ etcd: undefined }), ...to('v1.34.0'), policy: { datastore: 'Other' } },
      /^Passed: /,
    ],
    [
      'a worker has no etcd',
      { hosts: { c1: { left: true }, w1: { kubelet: 'v1.33.9' } }, ...to('v1.34.0') },
      /^Passed: /,
    ],
    [
      'a build of containerd without a version',
      { hosts: { w1: { runtime: 'containerd://7ad1843' } } },
      /^Unknown: Kubernetes 1\.36 needs containerd 2\.0 or later: w1 does not say/,
    ],
    ['containerd alone', { hosts: { w1: { runtime: 'containerd://' } } }, /^Unknown: .*: w1 does not say/],
    [
      'what the Node tells of a host without an agent',
      { hosts: { w1: { silent: true, runtime: 'containerd://1.7.27' } } },
      /^Failed: .*w1 has containerd 1\.7\.27/,
    ],
    [
      'the same of one that is not Ready',
      { hosts: { w1: { silent: true, ready: 'Unknown', runtime: 'containerd://1.7.27' } } },
      /^Failed: .*w1 has containerd 1\.7\.27/,
    ],
    [
      'a Ready host without an agent cannot be judged',
      { hosts: { w1: { silent: true, kubelet: 'v1.34.0' } }, ...to('v1.35.4') },
      /^Unknown: Kubernetes 1\.35 needs cgroup v2 .*: w1 does not say/,
    ],
    [
      'a dead one without an agent is asked when it comes back',
      { hosts: { w1: { silent: true, ready: 'Unknown', kubelet: 'v1.34.0' } }, ...to('v1.35.4') },
      /^Passed: /,
    ],
    [
      'what is wrong comes before what is unknown',
      { ...old({ etcd: '3.5.24-0', cgroup: undefined }), ...to('v1.36.3') },
      /^Failed: Kubernetes 1\.34 needs etcd.*3\.5\.24-0 \(https:[^;]+$/,
    ],
    [
      'skipped',
      {
        hosts: { w1: { runtime: 'containerd://1.7.27' } },
        spec: { kubernetes: { version: 'v1.36.3' }, preflight: { skip: ['TargetRequirements'] } },
      },
      /^Skipped: skipped; it would have said Failed: /,
    ],
  ])('%s', (_name, traits, answer) => {
    const said = answerOf(targetRequirements, traits)
    if (answer instanceof RegExp) expect(said).toMatch(answer)
    else expect(said).toBe(answer)
  })

  it('names where each row is said', () => {
    for (const { source } of requirements) expect(source).toMatch(/^https:\/\//)
  })
})
