// How long the work on a node takes: measured where earlier orders have done the like, else assumed, and said so.

import type { NodeState } from '../../api/node-state.ts'

export interface StepTime {
  readonly leastMs: number
  readonly medianMs: number
  readonly mostMs: number
  /** How many nodes it was measured on; 0 = assumed. */
  readonly measured: number
}

interface Kind {
  /** The steps of real drivers that a rehearsed one stands for. */
  readonly stands: readonly string[]
  readonly assumedMs: number
}

const minute = 60_000

const kinds: Readonly<Record<string, Kind>> = {
  'upgrade-control-plane': {
    stands: ['install-kubeadm', 'upgrade-control-plane', 'check-certificates', 'settle-control-plane'],
    assumedMs: 4 * minute,
  },
  'upgrade-kubelet': {
    stands: ['switch-repository', 'upgrade-node', 'drop-removed-flags', 'install-kubelet', 'install-kubectl'],
    assumedMs: minute,
  },
  'restart-kubelet': { stands: ['restart-kubelet'], assumedMs: minute / 2 },
  'apply-profile': { stands: ['apply-profile'], assumedMs: minute },
  jobs: { stands: ['jobs'], assumedMs: 2 * minute },
  script: { stands: ['script'], assumedMs: minute },
  validate: { stands: ['validate'], assumedMs: minute / 2 },
  'upgrade-packages': { stands: ['upgrade-packages'], assumedMs: 3 * minute },
  'install-runtime': { stands: ['install-runtime', 'restart-runtime'], assumedMs: minute },
  'install-etcd': { stands: ['check-etcd-members', 'install-etcd', 'restart-etcd'], assumedMs: minute },
  'boot-image': { stands: ['set-boot-guard', 'stage-image', 'boot-image', 'confirm-image'], assumedMs: 5 * minute },
  'swap-binary': { stands: ['swap-binary', 'restart-binary-units'], assumedMs: minute },
  maintenance: { stands: ['maintenance'], assumedMs: 10 * minute },
  reboot: { stands: ['reboot'], assumedMs: 2 * minute },
}

/** A share of the assumed time by which hosts differ where nothing was measured. */
const spread = 0.25

/** By the name of the rehearsed step. */
export function stepTimes(states: Iterable<NodeState>): ReadonlyMap<string, StepTime> {
  const owner = new Map(Object.entries(kinds).flatMap(([kind, { stands }]) => stands.map((step) => [step, kind])))
  const sums = new Map<string, number[]>()
  for (const { status } of states) {
    const byKind = new Map<string, number>()
    for (const { name, state, startedAt, finishedAt } of status?.agent?.order?.steps ?? []) {
      const kind = owner.get(name)
      if (kind === undefined || state !== 'Succeeded' || startedAt === undefined || finishedAt === undefined) continue
      byKind.set(kind, (byKind.get(kind) ?? 0) + Math.max(0, Date.parse(finishedAt) - Date.parse(startedAt)))
    }
    for (const [kind, ms] of byKind) sums.set(kind, [...(sums.get(kind) ?? []), ms])
  }
  return new Map(Object.entries(kinds).map(([kind, { assumedMs }]) => [kind, timeOf(sums.get(kind) ?? [], assumedMs)]))
}

function timeOf(measured: readonly number[], assumedMs: number): StepTime {
  const sorted = measured.toSorted((a, b) => a - b)
  const [leastMs] = sorted
  const mostMs = sorted.at(-1)
  const medianMs = sorted[sorted.length >> 1]
  if (leastMs === undefined || mostMs === undefined || medianMs === undefined) {
    const off = assumedMs * spread
    return { leastMs: assumedMs - off, medianMs: assumedMs, mostMs: assumedMs + off, measured: 0 }
  }
  return { leastMs, medianMs, mostMs, measured: sorted.length }
}
