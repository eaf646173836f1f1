// The update of a drawn cluster: what is done, in which waves, behind which gates, and how nodes are emptied for it.

import type { DirectUpdateSpec } from '../../src/api/direct-update.ts'
import type { GateSpec } from '../../src/api/gate.ts'
import type { SeededRandom } from '../../src/sim/seeded-random.ts'
import type { NodeSpec } from '../../src/sim/sim-machine.ts'
import { type Pace, profileName, shop } from './drawn-names.ts'

const waits = {
  virtual: { drain: '10m', gate: '3m', soak: '1m', rule: '2m' },
  real: { drain: '40s', gate: '15s', soak: '2s', rule: '10s' },
} as const

export function draftUpdate(random: SeededRandom, workers: readonly NodeSpec[], pace: Pace): DirectUpdateSpec {
  const work = draftWork(random, pace)
  const whole = work.kubernetes !== undefined && !random.chance(0.2)
  const gates = draftGates(random, workers, pace)
  return {
    ...work,
    ...(random.chance(0.15) && !whole && { nodeSelector: { matchLabels: { pool: 'p0' } } }),
    strategy: draftStrategy(random, pace),
    drain: draftDrain(random, pace),
    ...(gates.length > 0 && { gates }),
  }
}

function draftWork(random: SeededRandom, pace: Pace): DirectUpdateSpec {
  const sha256 = '0'.repeat(64)
  const everywhere = [{ kubernetes: { version: 'v1.36.3' } }, { script: { configMap: 'rotate', sha256 } }]
  return random.pick<DirectUpdateSpec>([
    { kubernetes: { version: 'v1.36.3' } },
    ...(pace === 'real'
      ? everywhere
      : [
          ...everywhere,
          { os: { packages: 'Security' as const } },
          { reboot: 'Always' as const },
          { profile: profileName },
          { kubernetes: { version: 'v1.34.1' } },
        ]),
  ])
}

function draftStrategy(random: SeededRandom, pace: Pace): NonNullable<DirectUpdateSpec['strategy']> {
  const { soak } = waits[pace]
  return {
    maxUnavailable: random.pick<number | string>([1, 1, 2, '30%']),
    ...random.pick<NonNullable<DirectUpdateSpec['strategy']>>([
      ...[{}, {}, {}],
      { waves: [{ size: 1, soak, promotion: 'Manual' }, { size: '50%' }, { size: '100%' }] },
      { type: 'Batches' },
      { waves: [{ size: 2, soak }, { size: '100%' }], maxFailures: 1 },
    ]),
  }
}

function draftDrain(random: SeededRandom, pace: Pace): NonNullable<DirectUpdateSpec['drain']> {
  const { drain: timeout, rule } = waits[pace]
  const app = (index: number) => ({ namespaces: [shop], selector: { matchLabels: { app: `app-${index}` } } })
  const rules = [
    ...(random.chance(0.1) ? [{ ...app(0), action: 'Skip' as const }] : []),
    ...(random.chance(0.1) ? [{ ...app(1), action: 'Force' as const, timeout: rule }] : []),
    ...(random.chance(0.1) ? [{ ...app(2), action: 'WaitForCompletion' as const, timeout: rule }] : []),
  ]
  return {
    timeout,
    ...(random.chance(0.2) && { unmanagedPods: 'Delete' }),
    ...(random.chance(0.05) && { emptyDir: 'Block' }),
    ...(random.chance(0.15) && { onTimeout: random.pick(['Abort', 'Force']) }),
    ...(rules.length > 0 && { rules }),
  }
}

function draftGates(random: SeededRandom, workers: readonly NodeSpec[], pace: Pace): GateSpec[] {
  if (!random.chance(0.3)) return []
  const { gate: timeout } = waits[pace]
  const name = random.pick(workers)?.name ?? ''
  const app = { namespace: shop, selector: { matchLabels: { app: `app-${random.whole(0, 3)}` } } }
  return [
    random.pick<GateSpec>([
      { type: 'NodeReady', timeout },
      { type: 'PodsReady', ...app, timeout },
      { type: 'PodsReady', ...app, when: 'AfterNode', timeout },
      { type: 'PodsReady', ...app, when: 'AfterWave', timeout },
      { type: 'Cel', expression: `node.metadata.name != "${name}"`, timeout },
      { type: 'Cel', expression: 'has(node.metadata.labels.pool)', timeout },
    ]),
  ]
}
