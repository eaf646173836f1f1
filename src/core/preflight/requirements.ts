// What a version of Kubernetes asks of a host before it is installed there. One row each, with where it is said.

import type { Node } from '../../api/kube.ts'
import type { MaintenancePolicySpec } from '../../api/maintenance-policy.ts'
import type { AgentStatus } from '../../api/node-state.ts'
import { asStated } from '../control-plane/datastore.ts'
import { leastBefore36 } from '../kubernetes/etcd-leap.ts'
import { isReady, roleOf } from '../node/node-facts.ts'
import { compareVersions, minorsBetween, parseVersion, type Version } from '../version.ts'

export interface HostView {
  readonly node: Node
  /** What its agent says; absent: it never reported. */
  readonly agent: AgentStatus | undefined
  readonly datastore: MaintenancePolicySpec['datastore']
}

export interface Requirement {
  readonly what: string
  /** The first minor version of Kubernetes 1 that asks for it. */
  readonly minor: number
  readonly source: string
  /** What the host has instead; 'unknown' where it does not say, undefined where all is well. */
  lacks(host: HostView): string | undefined
}

export const unknownToHost = 'unknown'

export const requirements: readonly Requirement[] = [
  {
    // kubeadm brings etcd 3.6 from this version on; members before that version may come back as ones long removed.
    what: `etcd ${leastBefore36.version} or later, before etcd 3.6 comes with it`,
    minor: 34,
    source: leastBefore36.source,
    lacks: (host) => {
      const member = memberOf(host)
      if (member === 'none') return undefined
      return member === undefined ? unknownToHost : older('etcd', member.version, leastBefore36.version)
    },
  },
  {
    what: 'cgroup v2 (or failCgroupV1: false in the kubelet’s configuration, and this check skipped)',
    minor: 35,
    source: 'https://github.com/kubernetes/enhancements/issues/5573',
    lacks: ({ agent }) => {
      const cgroup = agent?.facts.cgroup
      return cgroup === 'v1' ? 'cgroup v1' : cgroup === 'v2' ? undefined : unknownToHost
    },
  },
  {
    what: 'containerd 2.0 or later',
    minor: 36,
    source: 'https://kubernetes.io/blog/2025/12/17/kubernetes-v1-35-release/',
    lacks: (host) => {
      const runtime = runtimeOf(host)
      if (runtime === undefined) return unknownToHost
      return runtime.name === 'containerd' ? older(runtime.name, runtime.version, '2.0.0') : undefined
    },
  },
]

/**
 * What the host lacks of one row on its way to the target. One that is not Ready and has no agent cannot say what only an agent
 * knows; it is asked when it comes back, before it is taken.
 */
export function lackOf(requirement: Requirement, host: HostView, target: Version): string | undefined {
  const { minor } = requirement
  const from = parseVersion(host.agent?.facts.kubelet ?? host.node.status?.nodeInfo?.kubeletVersion ?? '')
  const crosses = from === undefined || minorsBetween(from, { ...from, minor }) > 0
  if (!crosses || minorsBetween(target, { ...target, minor }) > 0) return undefined
  const lacks = requirement.lacks(host)
  return lacks === unknownToHost && !host.agent && !isReady(host.node) ? undefined : lacks
}

/** The first of all rows that a host does not meet, in words; undefined where it may go to the target. */
export function firstLack(host: HostView, target: Version): string | undefined {
  for (const requirement of requirements) {
    const lacks = lackOf(requirement, host, target)
    if (lacks !== undefined) return lackText(requirement, host.node.metadata.name, lacks)
  }
  return undefined
}

/** In words for a person: of the hosts of these names, as of one. */
export function lackText({ what, minor, source }: Requirement, names: string, lacks: string): string {
  const has = lacks === unknownToHost ? 'does not say what it has' : `has ${lacks}`
  return `Kubernetes 1.${minor} needs ${what}: ${names} ${has} (${source})`
}

/** Of the etcd on this host: 'none' where none is to be expected, undefined where its version cannot be told. */
function memberOf({ node, agent, datastore }: HostView): { readonly version: string } | 'none' | undefined {
  if (roleOf(node) !== 'ControlPlane') return 'none'
  const etcd = asStated(agent?.controlPlane, datastore)?.etcd
  if (etcd?.place === 'External') return 'none'
  const own = etcd?.members.find(({ id }) => id === etcd.member)
  const version = [agent?.facts.etcd, own?.version].find((text) => text !== undefined && numbersOf(text))
  if (version !== undefined) return { version }
  return datastore === 'Other' ? 'none' : undefined
}

/** What the kubelet told the API server, which it asked the runtime itself; else what the agent found on the disk. */
function runtimeOf({ node, agent }: HostView): { readonly name: string; readonly version: string } | undefined {
  const told = node.status?.nodeInfo?.containerRuntimeVersion?.replace('://', ' ') ?? agent?.facts.runtime
  const [name, version] = told?.split(' ') ?? []
  return name === undefined || version === undefined ? undefined : { name, version }
}

function older(name: string, version: string, least: string): string | undefined {
  const numbers = numbersOf(version)
  if (numbers === undefined) return unknownToHost
  return compareVersions(numbers, least) < 0 ? `${name} ${version}` : undefined
}

/** The three numbers alone: distributions add what they like behind them (`1.6.20~ds1`, `3.5.24-0`). */
function numbersOf(version: string): string | undefined {
  return /^v?(\d+\.\d+\.\d+)/.exec(version)?.[1]
}
