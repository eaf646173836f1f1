import { setTimeout as wait } from 'node:timers/promises'
import type { KubeadmCluster } from '../bed/kubeadm-cluster.ts'

export interface QuorumWatch {
  /** When fewer members answered than it takes to agree, and how many did. */
  readonly lost: readonly string[]
  /** Who was seen to lead, and when, in milliseconds. */
  readonly leaders: readonly { readonly name: string; readonly atMs: number }[]
  stop(): Promise<void>
}

const everyMs = 1_000

/** Asks each member of etcd by itself, again and again. */
export function watchQuorum({ controlPlanes, etcdctl }: KubeadmCluster): QuorumWatch {
  const ending = new AbortController()
  const lost: string[] = []
  const leaders: { readonly name: string; readonly atMs: number }[] = []
  const needed = Math.floor(controlPlanes.length / 2) + 1
  const look = async () => {
    const healthy = await Promise.all(
      controlPlanes.map(async (member) => {
        const { code } = await etcdctl(['endpoint', 'health', '--command-timeout=3s'], [member])
        const atMs = Date.now()
        const { stdout } = await etcdctl(['endpoint', 'status', '--command-timeout=3s', '--write-out=json'], [member])
        // As text: the numbers are larger than ours can be.
        const [own, leader] = ['member_id', 'leader'].map((name) => new RegExp(`"${name}":(\\d+)`).exec(stdout)?.[1])
        if (own !== undefined && own === leader) leaders.push({ name: member.name, atMs })
        return code === 0
      }),
    )
    const count = healthy.filter(Boolean).length
    if (count < needed) lost.push(`${new Date().toISOString()} ${count} of ${controlPlanes.length} members healthy`)
  }
  const running = (async () => {
    while (!ending.signal.aborted) {
      await look()
      await wait(everyMs)
    }
  })()
  return {
    lost,
    leaders,
    stop: async () => {
      ending.abort()
      await running
    },
  }
}
