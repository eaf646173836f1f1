// Which troubles a run has, drawn from its seed: a few, not hundreds, and none after a while, so that what must come true
// in the end can be asked for.

import type { SeededRandom } from './seeded-random.ts'
import type { NodeSpec } from './sim-machine.ts'

/** On the way to the API server or to the disk, by chance for each request, event or write. */
const chanceFaultKinds = [
  'crash-before-write',
  'crash-after-write',
  'crash-at-read',
  'crash-at-disk',
  'conflict',
  'throttled-before',
  'throttled-after',
  'server-error-before',
  'server-error-after',
  'timeout-before',
  'timeout-after',
  'watch-broken',
  'watch-delayed',
  'watch-duplicated',
  'watch-stalled',
  'watch-bookmarks-only',
] as const

/** To the cluster as a whole or one machine in it, at a drawn moment. */
export const eventFaultKinds = [
  'api-outage',
  'history-forgotten',
  'node-death',
  'node-deleted',
  'power-loss',
  'slow-node',
  'clock-skew',
  'etcd-sick',
  'lease-stolen',
  'operator-frozen',
  'operator-killed',
  'agent-killed',
] as const

export const faultKinds = [...chanceFaultKinds, ...eventFaultKinds] as const

export type ChanceFaultKind = (typeof chanceFaultKinds)[number]
export type EventFaultKind = (typeof eventFaultKinds)[number]
export type FaultKind = ChanceFaultKind | EventFaultKind

export interface FaultEvent {
  readonly kind: EventFaultKind
  readonly atMs: number
  readonly forMs: number
  /** The machine concerned, where one is. */
  readonly node: string
  /** Rather one that is under work at that moment, where there is one. */
  readonly busy: boolean
  /** How much: the slowness, or the skew in milliseconds. */
  readonly amount: number
}

export interface ChanceFault {
  readonly rate: number
  /** At most this often in a run. */
  readonly limit: number
  /** Not before this moment. */
  readonly fromMs: number
  /** Of its strikes in the order in which they come, those that are let pass: how a shrunk history leaves single ones out. */
  readonly spared: readonly number[]
}

export interface FaultPlan {
  readonly chances: Readonly<Partial<Record<ChanceFaultKind, ChanceFault>>>
  readonly events: readonly FaultEvent[]
  /** Before and after these nothing goes wrong by chance: a cluster that never came up proves little. */
  readonly quietBeforeMs: number
  readonly quietAfterMs: number
}

export interface FaultPlanOptions {
  readonly nodes: readonly NodeSpec[]
  /** Only these; all by default. */
  readonly kinds?: readonly FaultKind[]
  /** Exactly these, as surely as a plan can make them strike, instead of a few that are drawn. */
  readonly certain?: readonly FaultKind[] | undefined
  readonly quietBeforeMs?: number
  readonly quietAfterMs?: number
}

const longestMs: Readonly<Record<EventFaultKind, number>> = {
  'api-outage': 120_000,
  'history-forgotten': 1,
  'node-death': 300_000,
  'node-deleted': 120_000,
  'power-loss': 60_000,
  'slow-node': 300_000,
  'clock-skew': 1,
  'etcd-sick': 300_000,
  'lease-stolen': 1,
  'operator-frozen': 60_000,
  'operator-killed': 1,
  'agent-killed': 1,
}

/** Machines of another role are spared. */
export const onlyOn: Readonly<Partial<Record<EventFaultKind, NodeSpec['role']>>> = {
  'node-deleted': 'worker',
  'etcd-sick': 'control-plane',
}

export function drawFaultPlan(random: SeededRandom, options: FaultPlanOptions): FaultPlan {
  const { certain, quietBeforeMs = 0, quietAfterMs = 20 * 60_000 } = options
  const allowed = new Set<FaultKind>(certain ?? options.kinds ?? faultKinds)
  // Most of a run happens early: trouble that comes when all is done tells nothing, and what must strike must not come too late.
  const moment = () =>
    quietBeforeMs + (quietAfterMs - quietBeforeMs) * (certain ? random.next() ** 3 * 0.6 : random.next() ** 2 * 0.9)
  const chances: Partial<Record<ChanceFaultKind, ChanceFault>> = {}
  const drawn = <K extends FaultKind>(kinds: readonly K[], most: number): readonly K[] => {
    const possible = kinds.filter((kind) => allowed.has(kind))
    return certain ? possible : some(random, possible, most)
  }
  for (const kind of drawn(chanceFaultKinds, 4)) {
    const rate = random.pick(certain ? ([0.1, 0.3, 0.5] as const) : ([0.005, 0.02, 0.1] as const))
    const fromMs = certain ? moment() : quietBeforeMs
    chances[kind] = { rate, limit: random.whole(1, 4), fromMs, spared: [] }
  }
  const events = drawn(eventFaultKinds, 3).flatMap((kind) => {
    const candidates = options.nodes.filter(({ role }) => (onlyOn[kind] ?? role) === role)
    const node = random.pick(candidates)?.name
    if (node === undefined) return []
    const atMs = moment()
    const forMs = Math.min(random.between(0.1, 1) * longestMs[kind], quietAfterMs - atMs)
    const amount = kind === 'clock-skew' ? random.between(-600_000, 600_000) : random.between(2, 8)
    return [{ kind, atMs, forMs, node, busy: random.chance(0.7), amount }]
  })
  return { chances, events, quietBeforeMs, quietAfterMs }
}

/** Up to `most` of them, at least one where there is one. */
function some<K extends FaultKind>(random: SeededRandom, kinds: readonly K[], most: number): readonly K[] {
  const left = [...kinds]
  const count = Math.min(left.length, random.whole(1, most))
  return Array.from({ length: count }, () => left.splice(random.whole(0, left.length - 1), 1)).flat()
}
