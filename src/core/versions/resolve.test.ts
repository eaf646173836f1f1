// The table says what each wish comes to; the laws hold of any cluster and any offer.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sampleAgent, sampleNode, sampleState } from '../../../test/samples/cluster-objects.ts'
import type { DirectUpdateSpec } from '../../api/direct-update.ts'
import type { Node } from '../../api/kube.ts'
import type { NodeState } from '../../api/node-state.ts'
import type { KubernetesWish } from '../../api/work.ts'
import { compareVersions, minorsBetween, parseVersion, type Version } from '../version.ts'
import { lagAllowed } from './find-path.ts'
import { type Offer, offerOf } from './offers.ts'
import { type Resolution, resolveVersions } from './resolve.ts'

interface Host {
  readonly kubelet: string
  readonly index?: readonly string[]
  /** Not one of the update. */
  readonly left?: boolean
}

interface Case {
  readonly wish: string | KubernetesWish
  /** Names that begin with c are the control plane's; its API servers run what its kubelets run. */
  readonly hosts?: Readonly<Record<string, Host>>
  readonly others?: readonly Offer[]
  /** Who may know more, and did not answer. */
  readonly failing?: readonly string[]
  readonly more?: Partial<DirectUpdateSpec>
  readonly server?: string
}

const own = ['v1.35.4', 'v1.35.6']
const whole: NonNullable<Case['hosts']> = {
  c1: { kubelet: 'v1.35.4', index: own },
  w1: { kubelet: 'v1.35.4', index: own },
}
const registry = offerOf('Registry', ['v1.34.9', 'v1.35.9', 'v1.36.3', 'v1.36.4-rc.0', 'v1.37.1', 'v1.37.0', 'v1.39.0'])
const image = { os: { image: 'registry.example/os:1' } }
const sha256 = 'a'.repeat(64)

function resolve({
  wish,
  hosts = whole,
  others = [registry],
  failing = [],
  more,
  server = 'v1.35.4',
}: Case): Resolution {
  const states = new Map<string, NodeState>()
  const nodes: Node[] = []
  const selected: Node[] = []
  for (const [name, { kubelet, index = [], left }] of Object.entries(hosts)) {
    const controlPlane = name.startsWith('c')
    const facts = { kubelet, versionsOnOffer: [...index], ...(controlPlane && { apiServer: kubelet }) }
    states.set(name, sampleState(name, { agent: sampleAgent({ facts }) }))
    const node = sampleNode(name, { controlPlane, kubelet })
    nodes.push(node)
    if (!left) selected.push(node)
  }
  const kubernetes = typeof wish === 'string' ? { version: wish } : wish
  const found = resolveVersions({
    ...{ nodes, selected, serverVersion: server, spec: { kubernetes, ...more } },
    stateOf: (name) => states.get(name),
    offers: { lists: others, silent: failing, failing },
  })
  if (!found) throw new Error('it is about Kubernetes')
  return found
}

/** `v1.36.3 v1.37.1, workers at 1, by Registry`, or the reason. */
function told(resolution: Resolution): string {
  if (!resolution.resolved) return `${resolution.reason.code}: ${resolution.reason.message}`
  const { path, fault, idle } = resolution
  if (fault) return `${fault.lasting ? 'lasting' : 'open'} ${fault.code}: ${fault.message}`
  const by = path.source === undefined ? '' : `, by ${path.source}`
  return `${idle ? 'nothing to do at ' : ''}${path.steps.join(' ')}, workers at ${path.workers.join(' ')}${by}`
}

const at = (kubelet: string, more: Partial<Host> = {}): Host => ({ kubelet, index: [kubelet], ...more })

describe('what a version comes to', () => {
  it.each<[string, Case, string]>([
    ['exact, and nobody knows of it', { wish: 'v1.36.9', others: [] }, 'v1.36.9, workers at 0'],
    ['exact, of the registry', { wish: '1.36.3' }, 'v1.36.3, workers at 0, by Registry'],
    ['exact, a pre-release', { wish: 'v1.36.4-rc.0' }, 'v1.36.4-rc.0, workers at 0, by Registry'],
    ['the newest of a minor version', { wish: '1.36.*' }, 'v1.36.3, workers at 0, by Registry'],
    ['a pattern of pre-releases', { wish: '1.36.4-rc.*' }, 'v1.36.4-rc.0, workers at 0, by Registry'],
    ['latest-patch, by the hosts before the registry', { wish: 'latest-patch' }, 'v1.35.6, workers at 0, by Hosts'],
    ['latest, through what lies between', { wish: 'latest' }, 'v1.36.3 v1.37.1, workers at 1, by Registry'],
    [
      'latest stops before a gap',
      { wish: 'latest', others: [offerOf('ConfigMap', ['v1.37.1'])] },
      'v1.35.6, workers at 0, by Hosts',
    ],
    [
      'latest, and who might know of more does not answer',
      { wish: 'latest', others: [], failing: ['the registry is away'] },
      'VersionUnknown: whether there is a v1.36 cannot be told (asked: the hosts’ package index; the registry is away)',
    ],
    [
      'latest goes as far as a person has listed, though a registry does not answer',
      { wish: 'latest', others: [offerOf('ConfigMap', ['v1.36.1'])], failing: ['the registry is away'] },
      'v1.36.1, workers at 0, by ConfigMap',
    ],
    [
      'workers alone go to what the control plane has, whoever is away',
      {
        ...{ wish: 'latest', others: [], failing: ['the registry is away'], server: 'v1.36.3' },
        hosts: { c1: at('v1.36.3', { left: true }), w1: { kubelet: 'v1.35.4', index: ['v1.35.4', 'v1.36.2'] } },
      },
      'v1.36.2, workers at 0, by Hosts',
    ],
    [
      'nothing of that minor version',
      { wish: '1.38.*' },
      'VersionUnknown: nothing that fits "1.38.*" is on offer (asked: the hosts’ package index, the image registry)',
    ],
    [
      'no version at all',
      { wish: 'v1' },
      'VersionUnknown: "v1" is not a full version such as v1.36.3, nor 1.36.*, latest-patch or latest',
    ],
    [
      'everything there already',
      { wish: 'latest-patch', hosts: { c1: at('v1.35.6'), w1: at('v1.35.6') } },
      'nothing to do at v1.35.6, workers at 0, by Hosts',
    ],
    [
      'newer than all that is on offer',
      { wish: 'latest-patch', hosts: { c1: at('v1.35.8', { index: own }), w1: at('v1.35.6', { index: own }) } },
      'nothing to do at v1.35.6, workers at 0, by Hosts',
    ],
    [
      'there already, but there is more to do than versions',
      { wish: 'latest-patch', hosts: { c1: at('v1.35.6') }, more: { reboot: 'Always' } },
      'v1.35.6, workers at 0, by Hosts',
    ],
    [
      'the same build of it',
      {
        wish: 'latest-patch',
        hosts: { c1: at('v1.35.4+k3s1', { index: ['v1.35.9', 'v1.35.4+k3s2', 'v1.35.4+k3s10'] }) },
      },
      'v1.35.4+k3s10, workers at 0, by Hosts',
    ],
    [
      'a build that is named',
      { wish: '1.35.*+k3s2', hosts: { c1: at('v1.35.4+k3s1', { index: ['v1.35.4+k3s2', 'v1.35.4+k3s10'] }) } },
      'v1.35.4+k3s2, workers at 0, by Hosts',
    ],
    // who goes
    [
      'workers alone go no further than the API server',
      { wish: 'latest', hosts: { c1: at('v1.36.3', { left: true }), w1: at('v1.34.4') }, server: 'v1.36.3' },
      'v1.36.3, workers at 0, by Registry',
    ],
    [
      'workers alone may go over several minor versions at once',
      { wish: 'v1.36.3', hosts: { c1: at('v1.36.3', { left: true }), w1: at('v1.34.4') }, server: 'v1.36.3' },
      'v1.36.3, workers at 0, by Registry',
    ],
    [
      'a kubelet alone has no steps',
      { wish: { version: 'v1.37.1', components: ['kubelet'] } },
      'v1.37.1, workers at 0, by Registry',
    ],
    [
      'kubelets alone go no further than the API servers, which stay',
      { wish: { version: 'latest', components: ['kubelet'] } },
      'nothing to do at v1.35.4, workers at 0, by Hosts',
    ],
    [
      'half of a control plane, one minor version',
      { wish: 'latest', hosts: { c1: at('v1.35.4'), c2: at('v1.35.4', { left: true }) } },
      'v1.36.3, workers at 0, by Registry',
    ],
    [
      'half of a control plane, two of them',
      { wish: 'v1.37.1', hosts: { c1: at('v1.35.4'), c2: at('v1.35.4', { left: true }) } },
      'lasting VersionSkipsMinor: the control plane runs v1.35.4: v1.37.1 is several minor versions away, and API servers may be one apart: c2 must go along',
    ],
    [
      'never below an API server that is ahead',
      {
        wish: 'v1.37.1',
        hosts: { c1: { kubelet: 'v1.36.3' }, c2: at('v1.35.4') },
        others: [offerOf('ConfigMap', ['v1.36.2'])],
      },
      'open VersionSkipsMinor: the control plane runs v1.35.4: no version of v1.36 is on offer, which lies on the way to v1.37.1 (asked: the hosts’ package index, ConfigMap slipway-versions)',
    ],
    // when workers go
    [
      'at each step',
      { wish: { version: 'v1.37.1', workers: 'EachStep' } },
      'v1.36.3 v1.37.1, workers at 0 1, by Registry',
    ],
    [
      'workers that would fall too far behind go along in between',
      {
        wish: 'v1.36.3',
        hosts: { c1: at('v1.32.0'), w1: at('v1.31.9') },
        others: [offerOf('ConfigMap', ['v1.33.1', 'v1.34.1', 'v1.35.1', 'v1.36.3'])],
      },
      'v1.33.1 v1.34.1 v1.35.1 v1.36.3, workers at 1 3, by ConfigMap',
    ],
    [
      'workers that are too far behind already',
      { wish: 'v1.36.3', hosts: { c1: at('v1.35.4'), w1: at('v1.32.9') } },
      'open VersionSkipsMinor: a worker runs v1.32.9, and a kubelet may be 3 minor versions older than its API server: bring the workers to v1.35.4 before the control plane goes to v1.36.3',
    ],
    // what cannot be
    [
      'a minor version that is nowhere',
      { wish: 'v1.39.0' },
      'open VersionSkipsMinor: the control plane runs v1.35.4: no version of v1.38 is on offer, which lies on the way to v1.39.0 (asked: the hosts’ package index, the image registry)',
    ],
    [
      'a minor version that who does not answer may have',
      { wish: 'v1.39.0', others: [], failing: ['the registry is away'] },
      'open VersionUnknown: the control plane runs v1.35.4: no version of v1.36 is on offer, which lies on the way to v1.39.0 (asked: the hosts’ package index; the registry is away)',
    ],
    [
      'an OS image has one version only',
      { wish: 'v1.37.1', more: image },
      'open VersionSkipsMinor: the control plane runs v1.35.4: an OS image has one version of Kubernetes; go to v1.36 first, then to v1.37.1',
    ],
    [
      'with a bundle only that counts',
      { wish: '1.36.*', more: { airGapped: { bundle: { url: '/srv/bundle.tar', sha256 } } } },
      'VersionUnknown: nothing that fits "1.36.*" is on offer (nobody was asked)',
    ],
    [
      'and it answers',
      {
        wish: 'latest',
        more: { airGapped: { bundle: { url: '/srv/bundle.tar', sha256 } } },
        others: [offerOf('Bundle', ['v1.36.1']), registry],
      },
      'v1.36.1, workers at 0, by Bundle',
    ],
  ])('%s', (_name, given, expected) => expect(told(resolve(given))).toBe(expected))
})

describe('a path, whatever the cluster and the offers', () => {
  const minor = fc.integer({ min: 26, max: 36 })
  const version = fc.tuple(minor, fc.integer({ min: 0, max: 3 })).map(([m, p]) => `v1.${m}.${p}`)
  const around = (base: number) => fc.integer({ min: Math.max(25, base - 3), max: base }).map((m) => `v1.${m}.1`)
  const cluster = minor.chain((base) =>
    fc.record({
      servers: fc.array(fc.constantFrom(`v1.${base}.0`, `v1.${base}.2`), { minLength: 1, maxLength: 3 }),
      kubelets: fc.array(around(base), { maxLength: 4 }),
    }),
  )
  const wish = fc.oneof(
    version,
    minor.map((m) => `1.${m}.*`),
    fc.constantFrom('latest', 'latest-patch'),
  )
  const views = fc.record({
    ...{ cluster, wish, workers: fc.constantFrom('Once' as const, 'EachStep' as const) },
    offered: fc.array(version, { maxLength: 120, size: 'max' }),
  })

  const parsed = (text: string): Version => {
    const found = parseVersion(text)
    if (!found) throw new Error(`${text} is no version`)
    return found
  }

  it('goes up one minor version at a time, through what is on offer, and leaves no kubelet too far behind', () => {
    let long = 0
    fc.assert(
      fc.property(views, ({ cluster: { servers, kubelets }, wish: text, workers, offered }) => {
        const hosts = Object.fromEntries([
          ...servers.map((kubelet, index) => [`c${index}`, { kubelet }] as const),
          ...kubelets.map((kubelet, index) => [`w${index}`, { kubelet }] as const),
        ])
        const found = resolve({ wish: { version: text, workers }, hosts, others: [offerOf('ConfigMap', offered)] })
        if (!found.resolved || found.fault || found.idle) return
        const { steps, workers: workerSteps, target } = found.path
        expect(steps.at(-1)).toBe(target)
        expect(workerSteps.at(-1)).toBe(steps.length - 1)
        const oldest = parsed([...servers].sort(compareVersions)[0] ?? '')
        // What goes down is for the checks to refuse: there is no path of several steps then.
        if (compareVersions(target, oldest.text) < 0) {
          expect(steps).toHaveLength(1)
          return
        }
        let server = oldest
        let kubelet = kubelets.length > 0 ? parsed([...kubelets].sort(compareVersions)[0] ?? '') : undefined
        for (const [index, text_] of steps.entries()) {
          const step = parsed(text_)
          expect(minorsBetween(server, step)).toBeLessThanOrEqual(1)
          if (steps.length > 1) expect(minorsBetween(server, step)).toBe(1)
          if (index < steps.length - 1) expect(offered).toContain(step.text)
          server = step
          if (kubelet) expect(minorsBetween(kubelet, server)).toBeLessThanOrEqual(lagAllowed(kubelet.minor))
          if (workerSteps.includes(index)) kubelet = step
        }
        if (steps.length > 2) long += 1
      }),
      { numRuns: 2_000 },
    )
    expect(long, 'paths of three steps and more among those drawn').toBeGreaterThan(5)
  })

  it('comes to the same whoever asks first', () => {
    fc.assert(
      fc.property(views, ({ cluster: { servers, kubelets }, wish: text, workers, offered }) => {
        const hosts = Object.fromEntries([
          ...servers.map((kubelet, index) => [`c${index}`, { kubelet }] as const),
          ...kubelets.map((kubelet, index) => [`w${index}`, { kubelet }] as const),
        ])
        const ask = (list: readonly string[]) =>
          told(resolve({ wish: { version: text, workers }, hosts, others: [offerOf('ConfigMap', list)] }))
        expect(ask([...offered].reverse())).toBe(ask(offered))
      }),
    )
  })
})
