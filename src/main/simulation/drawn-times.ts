// What a run could not have done without: how long each node's pods took to stop and its jobs to run, read off what was
// committed. From these, the schedule of somebody who wastes no time at all.

import type { MaintenancePolicy } from '../../api/maintenance-policy.ts'
import type { CommittedChange } from '../../sim/server/object-store.ts'
import type { SimCluster } from '../../sim/sim-cluster.ts'

export class DrawnTimes {
  readonly #cluster: SimCluster
  readonly #deletedAtMs = new Map<string, number>()
  readonly #drainMs = new Map<string, number>()
  /** In the order of their grants. */
  readonly #granted = new Set<string>()
  #fromMs = 0

  constructor(cluster: SimCluster) {
    this.#cluster = cluster
    cluster.server.onCommit((change) => this.#note(change))
  }

  /** What came before is no part of it. */
  begin(): void {
    this.#granted.clear()
    this.#drainMs.clear()
    this.#fromMs = this.#cluster.clock.monotonicMs()
  }

  /** Seconds of a greedy schedule in the same order: the control plane one by one, then the workers, `slots` at once. */
  idealSeconds(slots: number): number {
    const isControlPlane = (node: string) => this.#cluster.machine(node).node.role === 'control-plane'
    let nowMs = 0
    const free: number[] = Array.from({ length: slots }, () => 0)
    const granted = [...this.#granted]
    for (const node of granted.filter(isControlPlane)) nowMs += this.#neededMs(node)
    free.fill(nowMs)
    for (const node of granted.filter((name) => !isControlPlane(name))) {
      const slot = free.indexOf(Math.min(...free))
      free[slot] = (free[slot] ?? 0) + this.#neededMs(node)
    }
    return Math.max(nowMs, ...free) / 1000
  }

  #neededMs(node: string): number {
    const { executions } = this.#cluster.machine(node).host
    const jobs = executions.filter(({ startedMs }) => startedMs >= this.#fromMs)
    const workMs = jobs.reduce((sum, { startedMs, endedMs }) => sum + ((endedMs ?? startedMs) - startedMs), 0)
    return (this.#drainMs.get(node) ?? 0) + workMs
  }

  #note({ kind, before, after, time }: CommittedChange): void {
    if (kind === 'MaintenancePolicy' && after) {
      for (const { node } of (after as MaintenancePolicy).status?.ledger?.grants ?? []) {
        this.#granted.add(node)
      }
    }
    if (kind !== 'Pod' || !before) return
    const { uid } = before.metadata
    if (after?.metadata.deletionTimestamp !== undefined) {
      if (!this.#deletedAtMs.has(uid)) this.#deletedAtMs.set(uid, time)
      return
    }
    const deletedAtMs = this.#deletedAtMs.get(uid)
    const node = (before as { spec?: { nodeName?: string } }).spec?.nodeName
    if (after || deletedAtMs === undefined || node === undefined) return
    this.#deletedAtMs.delete(uid)
    this.#drainMs.set(node, Math.max(this.#drainMs.get(node) ?? 0, time - deletedAtMs))
  }
}
