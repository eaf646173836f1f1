import type { Node, Pod, Taint } from '../../api/kube.ts'
import type { Clock } from '../../ports/clock.ts'
import type { KubeApi } from '../../ports/kube-api.ts'
import type { Random } from '../../ports/random.ts'

/** What runs on the machine; it outlives the kubelet and dies with the power. */
export interface Containers {
  isRunning(podUid: string): boolean
  start(pod: Pod): void
  /** Asks to stop, kills after the grace; `gone` is called when nothing of it runs any more, undefined if nothing needs waiting. */
  stop(podUid: string, graceMs: number, gone: () => void): 'waiting' | 'gone'
}

export interface KubeletOptions {
  readonly api: KubeApi
  readonly clock: Clock
  readonly random: Random
  readonly nodeName: string
  /** The program's own version: what is on the disk may be newer until it is restarted. */
  readonly version: string
  readonly bootId: string
  /** Its Node as it stood before the simulation: what it is made of stays. */
  readonly found?: Node
  readonly labels?: Readonly<Record<string, string>>
  readonly taints?: readonly Taint[]
  readonly allocatable?: Readonly<Record<string, string>>
  readonly podCapacity?: number
  readonly containers: Containers
  /** Pods that never become ready. */
  readonly isSick?: (pod: Pod) => boolean
  readonly podStartMs: readonly [number, number]
  readonly podStopMs: readonly [number, number]
  readonly jobMs: readonly [number, number]
  readonly leaseEveryMs?: number
}
