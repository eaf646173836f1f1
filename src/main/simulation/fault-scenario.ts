// What a fault run is about, drawn from its seed: the cluster, what is wanted of it, and what people do meanwhile.

import type { StrategySpec } from '../../api/strategy.ts'
import type { SeededRandom } from '../../sim/seeded-random.ts'
import type { NodeSpec } from '../../sim/sim-machine.ts'
import { bringsImage, drawExtras, type FaultExtras } from './fault-extras.ts'

export interface FaultScenario {
  readonly nodes: readonly NodeSpec[]
  readonly operators: number
  readonly work: 'script' | 'kubernetes' | 'both'
  readonly maxUnavailable: number | string
  readonly budget: number | undefined
  /** A node a person has cordoned before; it stays so. */
  readonly cordoned: string | undefined
  /** A worker on which the script always fails. */
  readonly failing: string | undefined
  /** What a person does while the update runs. */
  readonly meddling: Meddling
  readonly waves: StrategySpec['waves']
  /** Where a script fails for good: a person repairs its cause and asks for another attempt. */
  readonly retries: boolean
  /** Whether things go wrong already while the cluster comes up. */
  readonly troubledStart: boolean
  /** How many nodes are done when that happens. */
  readonly meddlingAfter: number
  /** How many nodes of each of two zones may be away, besides the budget of the cluster. */
  readonly perZone: number | undefined
  /** Of whom a person says something special, where they do. */
  readonly meddledNode: string
  readonly extras: FaultExtras
  /** Whether kured is installed, and the policy names its lock. */
  readonly kured: boolean
}

export type Meddling =
  | 'nothing'
  | 'delete-update'
  | 'delete-policy'
  | 'edit-strategy'
  | 'edit-policy'
  | 'retry'
  | 'second-update'
  | 'pause'
  | 'pause-update'
  | 'cancel'
  | 'cancel-put-back'
  | 'skip'
  | 'cordon'
  | 'hold'

const from = 'v1.35.4'

export function drawScenario(random: SeededRandom, crowded: boolean, wantedNodes?: number): FaultScenario {
  const drawnNodes = random.whole(6, 12)
  const count = wantedNodes ?? drawnNodes
  const controlPlane = count < 9 ? 1 : random.pick([1, 3] as const)
  const nodes: NodeSpec[] = Array.from({ length: count }, (_, index) => ({
    name: index < controlPlane ? `cp${index + 1}` : `w${index - controlPlane + 1}`,
    role: index < controlPlane ? 'control-plane' : 'worker',
    version: from,
  }))
  const workers = nodes.slice(controlPlane).map(({ name }) => name)
  const work = random.pick(['script', 'kubernetes', 'both'] as const)
  const steering = random.fork('steering')
  const meant = random.chance(0.5)
    ? ('nothing' as const)
    : random.pick(['delete-update', 'delete-policy', 'edit-strategy', 'second-update', 'pause'] as const)
  const meddling: Meddling = steering.chance(0.4)
    ? steering.pick(['pause-update', 'cancel', 'cancel-put-back', 'skip', 'cordon', 'hold'] as const)
    : meant
  const drawn = {
    operators: random.pick([1, 2] as const),
    work,
    maxUnavailable: random.pick<number | string>([1, 2, 2, '30%']),
    budget: random.chance(0.5) ? random.whole(2, 4) : undefined,
    cordoned: random.chance(0.25) ? random.pick(workers) : undefined,
    failing:
      work !== 'kubernetes' && (meddling === 'nothing' || crowded) && random.chance(crowded ? 0.4 : 0.2)
        ? random.pick(workers)
        : undefined,
    meddling,
    waves: steering.chance(0.4) ? drawWaves(steering) : undefined,
    retries: steering.chance(0.5),
    troubledStart: random.chance(0.15),
    meddlingAfter: random.whole(0, Math.max(1, Math.floor(count / 2))),
  }
  // A person's cordon counts, and stays.
  const perZone = random.chance(0.3) ? random.whole(1, 2) + (drawn.cordoned === undefined ? 0 : 1) : undefined
  const plain = workers.filter((name) => name !== drawn.cordoned && name !== drawn.failing)
  const othersEnd = (drawn.failing === undefined || crowded) && meddling !== 'delete-policy'
  const extras = drawExtras(random.fork('extras'), {
    ...{ workers: plain, othersEnd },
    keepsPolicy: meddling !== 'delete-policy',
    crowded,
    steersUpdate: !meddling.startsWith('cancel') && !['pause-update', 'second-update'].includes(meddling),
    scriptFails: drawn.failing !== undefined,
  })
  return {
    ...drawn,
    // What hosts ask for goes one at a time where no budget says otherwise, and the person's cordon would be that one.
    budget: drawn.budget ?? (drawn.cordoned !== undefined && hasSentinels(extras) ? 3 : undefined),
    nodes: nodes.map((node, index) => ({
      ...node,
      ...(perZone !== undefined && { zone: index % 2 === 0 ? 'a' : 'b' }),
      ...(extras.pool.includes(node.name) && { labels: { pool: 'a' } }),
      ...(bringsImage(extras.beside) && { facts: { imageManager: 'bootc' as const } }),
    })),
    waves: extras.approval ? approvedWaves : drawn.waves,
    meddledNode: random.fork('meddled').pick(plain) ?? '',
    extras,
    perZone,
    kured: random.chance(0.2),
  }
}

function hasSentinels({ maintained, rebooting }: FaultExtras): boolean {
  return maintained !== undefined || rebooting !== undefined
}

const approvedWaves: StrategySpec['waves'] = [{ size: 1, promotion: 'Manual' }, { size: '100%' }]

function drawWaves(random: SeededRandom): StrategySpec['waves'] {
  const soak = random.chance(0.5) ? { soak: `${random.whole(1, 4)}m` } : {}
  const first = random.pick<number | string>([1, 2, '25%'])
  return [{ size: first, ...soak }, ...(random.chance(0.5) ? [{ size: '50%' }] : []), { size: '100%' }]
}
