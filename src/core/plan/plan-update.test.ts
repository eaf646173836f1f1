import { describe, expect, it } from 'vitest'
import {
  type NodeTraits,
  sampleAgent,
  sampleNode,
  sampleState,
  wellControlPlane,
} from '../../../test/samples/cluster-objects.ts'
import { nodeProfile } from '../../../test/samples/profiles.ts'
import type { DirectUpdateSpec } from '../../api/direct-update.ts'
import type { AgentStatus, NodeState } from '../../api/node-state.ts'
import { type Plan, planUpdate } from './plan-update.ts'

interface Host extends NodeTraits {
  readonly apiServer?: string
  readonly drivers?: string[]
  readonly offer?: string[]
  /** No agent has reported. */
  readonly silent?: boolean
}

const now = new Date('2026-06-01T00:00:00Z')
const offered = ['v1.34.9', 'v1.35.4', 'v1.35.9', 'v1.36.3', 'v1.37.0', 'v2.0.0', 'v1.36.3+k3s1']

function cluster(hosts: Record<string, Host>) {
  const states = new Map<string, NodeState>()
  const nodes = Object.entries(hosts).map(([name, host]) => {
    const controlPlane = name.startsWith('c')
    const { kubelet = 'v1.35.4', drivers = ['script', 'kubeadm', 'kubelet', 'kubectl'], offer = offered } = host
    const facts: Partial<AgentStatus['facts']> = {
      kubelet,
      versionsOnOffer: offer,
      ...(controlPlane && { ...wellControlPlane, apiServer: host.apiServer ?? kubelet }),
    }
    if (!host.silent) states.set(name, sampleState(name, { agent: sampleAgent({ drivers, facts }) }))
    return sampleNode(name, { ...host, controlPlane, kubelet })
  })
  return { nodes, stateOf: (name: string) => states.get(name) }
}

const to = (version: string, more: Partial<DirectUpdateSpec> = {}): DirectUpdateSpec => ({
  kubernetes: { version },
  ...more,
})
const sha = 'a'.repeat(64)
const script: DirectUpdateSpec = { script: { configMap: 'rotate', sha256: sha } }
const pool = (value: string) => ({ nodeSelector: { matchLabels: { pool: value } } })

interface Case {
  readonly name: string
  readonly hosts: Record<string, Host>
  readonly spec: DirectUpdateSpec
  readonly script?: string
  readonly server?: string
  /** `lasting Code: message`, `open Code: message`, or the plan. */
  readonly plan: string | Omit<Exclude<Plan, { verdict: 'refused' }>, 'preflight'>
}

const controlPlaneKey = 'node-role.kubernetes.io/control-plane'
const whole = { c1: {}, w1: {}, w2: {} }
const planned = (total: number, current = 'v1.35.4', target = 'v1.36.3') =>
  ({ verdict: 'planned', total, path: pathTo([target], current) }) as const

/** Where the hosts have the target in their index. */
const pathTo = (steps: string[], current = 'v1.35.4', workers = [steps.length - 1]) => ({
  ...{ current, target: steps.at(-1) ?? '', steps, step: 0, workers, source: 'Hosts' as const },
})
const unlisted = (version: string) => {
  const { source: _, ...path } = pathTo([version])
  return { verdict: 'planned', total: 1, path } as const
}

it('says that the API will be away with the only control-plane node', () => {
  const view = { ...cluster(whole), serverVersion: 'v1.35.4', now }
  expect(planUpdate({ ...view, spec: to('v1.36.3') })).toMatchObject({ warnings: [{ code: 'ControlPlaneAway' }] })
  const workers = {
    ...to('v1.35.4'),
    nodeSelector: { matchExpressions: [{ key: controlPlaneKey, operator: 'DoesNotExist' as const }] },
  }
  expect(planUpdate({ ...view, spec: workers })).not.toHaveProperty('warnings')
})

describe('planning', () => {
  it.each<Case>([
    { name: 'the whole cluster, one minor up', hosts: whole, spec: to('v1.36.3'), plan: planned(3) },
    { name: 'without the v', hosts: whole, spec: to('1.36.3'), plan: planned(3) },
    { name: 'a patch', hosts: whole, spec: to('v1.35.9'), plan: planned(3, 'v1.35.4', 'v1.35.9') },
    {
      name: 'a script alone has no path',
      hosts: whole,
      spec: script,
      script: sha,
      plan: { verdict: 'planned', total: 3 },
    },
    { name: 'script and version', hosts: whole, spec: to('v1.36.3', script), script: sha, plan: planned(3) },
    {
      name: 'everything there already',
      hosts: { c1: { kubelet: 'v1.36.3', offer: [] } },
      spec: to('v1.36.3'),
      plan: { ...unlisted('v1.36.3'), path: { ...unlisted('v1.36.3').path, current: 'v1.36.3' } },
    },
    {
      name: 'the oldest of several is where the path begins',
      hosts: { c1: {}, w1: { kubelet: 'v1.35.1' } },
      spec: to('v1.36.3'),
      plan: planned(2, 'v1.35.1'),
    },
    {
      name: 'a dead node without an agent does not hold it up',
      hosts: { c1: {}, w1: { silent: true, ready: 'Unknown' } },
      spec: to('v1.36.3'),
      plan: planned(2),
    },
    // selection
    {
      name: 'nothing selected',
      hosts: whole,
      spec: to('v1.36.3', pool('none')),
      plan: 'lasting NothingSelected: this update can never start: no node matches spec.nodeSelector; look at the labels with kubectl get nodes --show-labels, and correct it',
    },
    {
      name: 'every node that is selected is left out',
      hosts: whole,
      spec: { ...to('v1.36.3'), skip: Object.keys(whole) },
      plan: 'lasting NothingSelected: this update can never start: every node that matches spec.nodeSelector is in spec.skip: take one of them out',
    },
    // script
    {
      name: 'no such script',
      hosts: whole,
      spec: script,
      plan: `open ScriptMissing: ConfigMap rotate with key "script" is not in the operator's namespace`,
    },
    {
      name: 'another script',
      hosts: whole,
      spec: script,
      script: 'b'.repeat(64),
      plan: `open ScriptChanged: the script in ConfigMap rotate has SHA-256 ${'b'.repeat(64)}, the update names ${sha}`,
    },
    // agents
    {
      name: 'an agent without the driver',
      hosts: { c1: {}, w1: { drivers: ['script'] }, w2: { drivers: [] } },
      spec: to('v1.36.3'),
      plan: 'open DriverMissing: the agents on w1, w2 have no driver "kubeadm"',
    },
    {
      name: 'a driver nobody needs may be missing',
      hosts: { c1: { drivers: ['script'] } },
      spec: script,
      script: sha,
      plan: { verdict: 'planned', total: 1 },
    },
    {
      name: 'no agent on Ready nodes, a few named',
      hosts: Object.fromEntries(['w1', 'w2', 'w3', 'w4', 'w5', 'w6', 'w7'].map((name) => [name, { silent: true }])),
      spec: script,
      script: sha,
      plan: 'open AgentMissing: no agent has reported from w1, w2, w3, w4, w5 and 2 more',
    },
    {
      name: 'an agent that is not selected is not asked',
      hosts: { c1: { labels: { pool: 'a' } }, w1: { silent: true } },
      spec: { ...script, ...pool('a') },
      script: sha,
      plan: { verdict: 'planned', total: 1 },
    },
    // versions
    {
      name: 'not a version',
      hosts: whole,
      spec: to('v1.36'),
      plan: 'lasting VersionUnknown: "v1.36" is not a full version such as v1.36.3, nor 1.36.*, latest-patch or latest',
    },
    {
      name: 'a kubelet is newer',
      hosts: { c1: {}, w1: { kubelet: 'v1.36.3' } },
      spec: to('v1.35.9'),
      plan: 'lasting Downgrade: w1 runs v1.36.3, which is newer than v1.35.9',
    },
    {
      name: 'an API server is newer',
      hosts: { c1: { apiServer: 'v1.36.3' } },
      spec: to('v1.35.9'),
      plan: 'lasting Downgrade: c1 runs v1.36.3, which is newer than v1.35.9',
    },
    {
      name: 'a node that is not selected may be newer',
      hosts: { c1: { kubelet: 'v1.36.3' }, w1: { labels: { pool: 'a' } } },
      spec: to('v1.35.9', pool('a')),
      plan: planned(1, 'v1.35.4', 'v1.35.9'),
    },
    {
      name: 'two minors, one after the other',
      hosts: { c1: { kubelet: 'v1.34.9' } },
      spec: to('v1.36.3'),
      plan: { ...planned(1), path: pathTo(['v1.35.9', 'v1.36.3'], 'v1.34.9') },
    },
    {
      name: 'two minors, and nothing of the one between',
      hosts: { c1: { kubelet: 'v1.34.9', offer: ['v1.34.9'] } },
      spec: to('v1.36.3'),
      plan: 'open VersionSkipsMinor: the control plane runs v1.34.9: no version of v1.35 is on offer, which lies on the way to v1.36.3 (asked: the hosts’ package index)',
    },
    {
      name: 'a major is more than one minor',
      hosts: { c1: {} },
      spec: to('v2.0.0'),
      plan: 'lasting VersionSkipsMinor: the control plane runs v1.35.4: go to v1.36 first, then to v2.0.0',
    },
    {
      name: 'no host can install it',
      hosts: { c1: { offer: ['v1.36.1', 'v1.36.4'] }, w1: { offer: ['v1.36.4'] } },
      spec: to('v1.36.3'),
      plan: 'open VersionUnknown: c1, w1 cannot install v1.36.3; on offer: v1.36.1, v1.36.4',
    },
    {
      name: 'an index that may be older than the version',
      hosts: { c1: { offer: ['v1.36.1', 'v1.36.2'] } },
      spec: to('v1.36.3'),
      plan: unlisted('v1.36.3'),
    },
    {
      name: 'what a bundle holds is not looked for in the repositories',
      hosts: { c1: { offer: ['v1.36.1'] } },
      spec: to('v1.36.3', { airGapped: { bundle: { url: '/srv/bundle.tar', sha256: sha } } }),
      plan: unlisted('v1.36.3'),
    },
    {
      name: 'an index that knows only other minor versions says nothing of this one',
      hosts: { c1: { offer: ['v1.35.5'] } },
      spec: to('v1.36.3'),
      plan: unlisted('v1.36.3'),
    },
    {
      name: 'a build is a version of its own',
      hosts: { c1: { kubelet: 'v1.36.3+k3s1' } },
      spec: to('v1.36.3'),
      plan: 'lasting Downgrade: c1 runs v1.36.3+k3s1, which is newer than v1.36.3',
    },
    // rule 3: the control plane first
    {
      name: 'workers alone, above the API server',
      hosts: { c1: {}, w1: { labels: { pool: 'a' } } },
      spec: to('v1.36.3', pool('a')),
      plan: 'open KubeletWouldBeNewer: the oldest API server runs v1.35.4; a kubelet must not be newer (v1.36.3): upgrade the control plane first',
    },
    {
      name: 'workers alone, after the control plane',
      hosts: { c1: { kubelet: 'v1.36.3' }, w1: { labels: { pool: 'a' } } },
      spec: to('v1.36.3', pool('a')),
      plan: planned(1),
    },
    {
      name: 'the oldest of several API servers is the ceiling',
      hosts: {
        c1: { kubelet: 'v1.36.3' },
        c2: { kubelet: 'v1.36.3', apiServer: 'v1.35.9' },
        w1: { labels: { pool: 'a' } },
      },
      spec: to('v1.36.3', pool('a')),
      plan: 'open KubeletWouldBeNewer: the oldest API server runs v1.35.9; a kubelet must not be newer (v1.36.3): upgrade the control plane first',
    },
    {
      name: 'no control-plane node to be seen: the server that answered is the ceiling',
      hosts: { w1: {} },
      spec: to('v1.36.3'),
      server: 'v1.35.7',
      plan: 'open KubeletWouldBeNewer: the oldest API server runs v1.35.7; a kubelet must not be newer (v1.36.3): upgrade the control plane first',
    },
    { name: 'and enough when it is new', hosts: { w1: {} }, spec: to('v1.36.3'), server: 'v1.36.3', plan: planned(1) },
    {
      name: 'one control-plane node is left behind',
      hosts: { c1: { labels: { pool: 'a' } }, c2: {}, w1: { labels: { pool: 'a' } } },
      spec: to('v1.36.3', pool('a')),
      plan: 'open KubeletWouldBeNewer: the oldest API server runs v1.35.4; a kubelet must not be newer (v1.36.3): upgrade the control plane first',
    },
    {
      name: 'the one left out is there already',
      hosts: { c1: { labels: { pool: 'a' } }, c2: { kubelet: 'v1.36.3' }, w1: { labels: { pool: 'a' } } },
      spec: to('v1.36.3', pool('a')),
      plan: planned(2),
    },
    {
      name: 'control-plane nodes alone may go one by one',
      hosts: { c1: { labels: { pool: 'a' } }, c2: {}, w1: {} },
      spec: to('v1.36.3', pool('a')),
      plan: planned(1),
    },
    {
      name: 'kubelets without kubeadm: nothing upgrades the API servers',
      hosts: whole,
      spec: { kubernetes: { version: 'v1.36.3', components: ['kubelet', 'kubectl'] } },
      plan: 'open KubeletWouldBeNewer: the oldest API server runs v1.35.4; a kubelet must not be newer (v1.36.3): upgrade the control plane first',
    },
    {
      name: 'kubelets of the control plane alone without kubeadm, two minors up',
      hosts: { c1: { labels: { pool: 'a' } }, w1: {} },
      spec: { kubernetes: { version: 'v1.37.0', components: ['kubelet'] }, ...pool('a') },
      plan: 'open KubeletWouldBeNewer: the oldest API server runs v1.35.4; a kubelet must not be newer (v1.37.0): upgrade the control plane first',
    },
    {
      name: 'kubelets without kubeadm, up to their API servers',
      hosts: { c1: { apiServer: 'v1.36.3' }, w1: {} },
      spec: { kubernetes: { version: 'v1.36.3', components: ['kubelet'] } },
      plan: planned(2),
    },
    {
      name: 'a runtime is no kubelet, whatever version it comes with',
      hosts: { c1: { drivers: ['runtime'] } },
      spec: { kubernetes: { version: 'v1.36.3', components: ['containerd'] } },
      plan: planned(1),
    },
  ])('$name', ({ hosts, spec, script: scriptSha256, server = 'v1.35.4', plan }) => {
    const found = planUpdate({ ...cluster(hosts), spec, serverVersion: server, scriptSha256, now })
    if (found.verdict === 'planned') {
      const { preflight: _, warnings: _warnings, ...rest } = found
      return expect(rest).toEqual(plan)
    }
    const { code, message } = found.reason
    expect(`${found.lasting ? 'lasting' : 'open'} ${code}: ${message}`).toEqual(plan)
  })

  it('goes by what the Node says where the agent does not know', () => {
    const { nodes } = cluster({ w1: { kubelet: 'v1.36.3' } })
    const agent = sampleAgent({ facts: { kubelet: undefined } })
    const view = {
      nodes,
      stateOf: () => sampleState('w1', { agent }),
      spec: to('v1.35.9'),
      serverVersion: 'v1.36.3',
      now,
    }
    expect(planUpdate(view)).toMatchObject({ reason: { message: 'w1 runs v1.36.3, which is newer than v1.35.9' } })
  })
})

describe('a step of a path', () => {
  const apt = { uris: ['https://pkgs.k8s.io/core:/stable:/v1.36/deb/'], suites: ['/'], signedBy: 'key' }
  const profile = nodeProfile('base', { nodeSelector: {}, repositories: [{ name: 'kubernetes', apt }] })
  const step = { ...cluster({ c1: { kubelet: 'v1.34.9' } }), spec: to('v1.35.9'), profiles: [profile], now }
  const view = { ...step, serverVersion: 'v1.34.9', scriptSha256: undefined, takes: () => true }

  it('contradicts no profile that names the repository of its end', () => {
    expect(planUpdate({ ...view, pathTarget: 'v1.36.3' }).verdict).toBe('planned')
  })

  it('contradicts one that names another', () => {
    const plan = planUpdate({ ...view, pathTarget: 'v1.37.0' })
    expect(plan).toMatchObject({ verdict: 'refused', reason: { code: 'ProfileContradicted' } })
  })
})
