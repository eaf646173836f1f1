// What crowded histories have besides: everything at once, and nothing patient. Gates and hooks fail, drains are given up, a
// script fails among it all, several people get in the way; and one looks after what fails, as its message says.

import type { DirectUpdateSpec } from '../../api/direct-update.ts'
import type { GateSpec } from '../../api/gate.ts'
import type { Hook } from '../../api/hook.ts'
import type { SeededRandom } from '../../sim/seeded-random.ts'

export interface FaultCrowd {
  /** Somebody tries what failed again, and puts back what nobody tries again. */
  readonly attended: boolean
  /** Gates for everything that takes a node away. */
  readonly policyGates: readonly GateSpec[]
  /** From when until when the server that hooks tell refuses, for now or for good. */
  readonly sickHooks: { readonly fromMs: number; readonly untilMs: number; readonly status: 409 | 503 } | undefined
  /** For how long gates and hooks are asked before they count as failed. */
  readonly impatience: string | undefined
  readonly terms: Pick<DirectUpdateSpec, 'nodeTimeout' | 'rollback'>
  readonly drain: Pick<NonNullable<DirectUpdateSpec['drain']>, 'timeout' | 'onTimeout'>
  readonly maxFailures: number
  readonly meddlings: readonly CrowdMeddling[]
  /** What others do with kubectl, who think of something else: most of it is undone after a while. */
  readonly visits: readonly CrowdVisit[]
}

export interface CrowdVisit {
  readonly what: 'relabel' | 'uncordon' | 'delete-state' | 'edit-profile' | 'replace-profile' | 'tighten'
  readonly afterMs: number
  readonly node: string
}

export interface CrowdMeddling {
  readonly what: 'pause' | 'pause-update' | 'cordon' | 'hold' | 'edit-policy' | 'retry' | 'second-update'
  readonly afterMs: number
  readonly node: string
}

export const noCrowd: FaultCrowd = {
  attended: false,
  policyGates: [],
  sickHooks: undefined,
  impatience: undefined,
  terms: {},
  drain: {},
  maxFailures: 0,
  meddlings: [],
  visits: [],
}

export interface CrowdOptions {
  readonly workers: readonly string[]
  readonly gates: readonly [GateSpec, ...GateSpec[]]
  /** Whether what the update is wanted to be may be changed. */
  readonly steersUpdate: boolean
}

export function drawCrowd(random: SeededRandom, { workers, gates, steersUpdate }: CrowdOptions): FaultCrowd {
  const part = (name: keyof FaultCrowd) => random.fork(name)
  const aroundNodes = gates.filter(({ when = 'BeforeNode' }) => when === 'BeforeNode' || when === 'AfterNode')
  const sick = part('sickHooks')
  const terms = part('terms')
  const drain = part('drain')
  const fromMs = sick.between(10_000, 200_000)
  return {
    attended: true,
    policyGates: some(part('policyGates'), aroundNodes, 0.3),
    sickHooks: sick.chance(0.5)
      ? { fromMs, untilMs: fromMs + sick.between(20_000, 200_000), status: sick.pick([409, 503]) }
      : undefined,
    impatience: part('impatience').pick(['45s', '2m', undefined]),
    terms: {
      ...(terms.chance(0.3) && { nodeTimeout: terms.pick(['3m', '6m']) }),
      ...(terms.chance(0.3) && { rollback: terms.pick(['All', 'Never'] as const) }),
    },
    drain: drain.chance(0.4) ? { timeout: drain.pick(['1m', '3m']), onTimeout: drain.pick(['Abort', 'Hold']) } : {},
    maxFailures: part('maxFailures').pick([0, 0, 1, 3]),
    meddlings: drawMeddlings(part('meddlings'), workers, steersUpdate),
    visits: drawVisits(part('visits'), workers),
  }
}

const visits = ['relabel', 'uncordon', 'delete-state', 'edit-profile', 'replace-profile', 'tighten'] as const

function drawVisits(random: SeededRandom, workers: readonly string[]): readonly CrowdVisit[] {
  const kinds = some(random, visits, 0.3)
  return kinds.map((what) => ({ what, node: random.pick(workers) ?? '', afterMs: random.between(5_000, 300_000) }))
}

/** Each another thing, on a node of its own: two people who say the opposite of one node are another story. */
function drawMeddlings(random: SeededRandom, workers: readonly string[], steersUpdate: boolean) {
  const left = [...workers]
  const kinds = (['pause', 'cordon', 'hold', 'edit-policy', 'retry', 'second-update', 'pause-update'] as const).filter(
    (what) => steersUpdate || (what !== 'pause-update' && what !== 'second-update'),
  )
  return Array.from({ length: random.whole(0, 3) }, (): readonly CrowdMeddling[] => {
    const [what] = kinds.splice(random.whole(0, kinds.length - 1), 1)
    const [node] = left.splice(random.whole(0, left.length - 1), 1)
    return what === undefined || node === undefined ? [] : [{ what, node, afterMs: random.between(5_000, 300_000) }]
  }).flat()
}

function some<T>(random: SeededRandom, list: readonly T[], probability: number): readonly T[] {
  return list.filter(() => random.chance(probability)).slice(0, 3)
}

/** With the patience of the history. */
export function asPatient<T extends GateSpec | Hook>(
  list: readonly T[],
  { impatience }: Pick<FaultCrowd, 'impatience'>,
): T[] {
  return list.map((one) => (impatience === undefined ? one : { ...one, timeout: impatience }))
}
