// Nodes of a rehearsal on which nothing is done: one kubelet looks after the pods that come to all of them. A node that gets a pod
// with a program in it wakes up, and is a machine as any other.

import type { Pod } from '../../api/kube.ts'
import { KubeletPods } from '../../sim/actors/kubelet-pods.ts'
import type { SimCluster } from '../../sim/sim-cluster.ts'

type Range = readonly [number, number]

export interface SleepingOptions {
  readonly names: ReadonlySet<string>
  readonly hasProgram: (pod: Pod) => boolean
  readonly isSick: (pod: Pod) => boolean
  readonly podStartMs: Range
  readonly podStopMs: Range
  readonly jobMs: Range
}

export function tendSleeping(cluster: SimCluster, { names, hasProgram, ...options }: SleepingOptions): void {
  if (names.size === 0) return
  const asleep = new Set(names)
  const { api, clock, random, signal, name: client } = cluster.process('sleeping-nodes', { latencyMs: [0, 0] })
  const failed = (error: unknown) => cluster.failures.push({ process: client, error })
  const pods = new KubeletPods(
    { api, clock, random, containers: foundRunning(cluster, names), ...options },
    failed,
    signal,
  )
  cluster.server.onCommit(({ kind, before, after }) => {
    if (kind !== 'Pod') return
    const pod = (after ?? before) as Pod
    const { nodeName = '' } = pod.spec
    if (!asleep.has(nodeName)) return
    if (hasProgram(pod)) {
      asleep.delete(nodeName)
      wake(cluster, nodeName)
    } else pods.see(after as Pod | undefined, before as Pod | undefined)
  })
}

function foundRunning(cluster: SimCluster, names: Iterable<string>) {
  const running = new Set<string>()
  for (const name of names) {
    for (const { metadata, status } of cluster.podsOn(name)) if (status?.phase === 'Running') running.add(metadata.uid)
  }
  return {
    isRunning: (uid: string) => running.has(uid),
    start: ({ metadata }: Pod) => void running.add(metadata.uid),
    stop: (uid: string) => {
      running.delete(uid)
      return 'gone' as const
    },
  }
}

function wake(cluster: SimCluster, name: string): void {
  const machine = cluster.machine(name)
  for (const pod of cluster.podsOn(name)) if (pod.status?.phase === 'Running') machine.containers.start(pod)
  machine.powerOn()
}
