// What a version of Kubernetes asks of a host before it is installed there. One row each, with where it is said.

import type { Node } from '../../api/kube.ts'
import type { AgentStatus } from '../../api/node-state.ts'
import { compareVersions } from '../version.ts'

export interface HostView {
  readonly node: Node
  readonly facts: AgentStatus['facts'] | undefined
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
    // kubeadm brings etcd 3.6 from this version on; members before 3.5.26 may come back as ones long removed.
    what: 'etcd 3.5.26 or later, before etcd 3.6 comes with it',
    minor: 34,
    source: 'https://etcd.io/blog/2025/zombie_members_upgrade/',
    lacks: ({ facts }) => (olderThan(facts?.etcd, '3.5.26') ? `etcd ${facts?.etcd}` : undefined),
  },
  {
    what: 'cgroup v2 (or failCgroupV1: false in the kubelet’s configuration, and this check skipped)',
    minor: 35,
    source: 'https://github.com/kubernetes/enhancements/issues/5573',
    lacks: ({ facts }) => (facts?.cgroup === 'v1' ? 'cgroup v1' : facts?.cgroup === 'v2' ? undefined : unknownToHost),
  },
  {
    what: 'containerd 2.0 or later',
    minor: 36,
    source: 'https://kubernetes.io/blog/2025/12/17/kubernetes-v1-35-release/',
    lacks: (host) => {
      const runtime = runtimeOf(host)
      if (runtime === undefined) return unknownToHost
      return runtime.name === 'containerd' && olderThan(runtime.version, '2.0.0')
        ? `containerd ${runtime.version}`
        : undefined
    },
  },
]

/** What the kubelet told the API server, which it asked the runtime itself; else what the agent found on the disk. */
function runtimeOf({ node, facts }: HostView): { readonly name: string; readonly version: string } | undefined {
  const told = node.status?.nodeInfo?.containerRuntimeVersion?.replace('://', ' ') ?? facts?.runtime
  const [name, version] = told?.split(' ') ?? []
  return name === undefined || version === undefined ? undefined : { name, version }
}

/** By the three numbers alone: distributions add what they like behind them (`1.6.20~ds1`, `3.5.24-0`). */
function olderThan(version: string | undefined, least: string): boolean {
  const numbers = /^v?(\d+\.\d+\.\d+)/.exec(version ?? '')?.[1]
  return numbers !== undefined && compareVersions(numbers, least) < 0
}
