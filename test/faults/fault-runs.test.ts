import { describe, expect, it } from 'vitest'
import { combinationName, faultCombinations, impossiblePairs } from '../../src/sim/fault-combination.ts'
import { faultKinds } from '../../src/sim/fault-plan.ts'
import { simulateFaults, unharmed } from './simulate.ts'

const seeds = Number(process.env.SLIPWAY_SEEDS ?? 3000)
/** In each of these phases every kind of trouble must have struck. */
const everyKindIn = ['none', 'Draining', 'Working'] as const
/** These are passed through fast, or little is asked in them: some trouble must have struck there. */
const someKindIn = ['Assigned', 'Verifying', 'Done', 'Failed'] as const
const lanes = 2

describe('fault runs', () => {
  it(`${seeds} drawn histories break no rule and come to their end`, { timeout: 4 * 3_600_000 }, async () => {
    const size = Math.ceil(seeds / lanes)
    const reports = await Promise.all(
      Array.from({ length: lanes }, (_, lane) =>
        simulateFaults(unharmed, lane * size + 1, Math.min(seeds, (lane + 1) * size)),
      ),
    )
    const violations = reports.flatMap((report) => report.violations)
    const hits = sumOf(reports.map(({ faults = {} }) => faults))
    const together = sumOf(reports.map(({ together = {} }) => together))
    console.info(table(hits))
    expect(violations.slice(0, 10).map(({ seed, rule, message }) => `seed ${seed}: rule ${rule}: ${message}`)).toEqual(
      [],
    )
    expect(reports.reduce((sum, { runs }) => sum + runs, 0)).toBe(seeds)
    if (seeds < 3000) return
    expect(neverStruck(hits)).toEqual([])
    expect(neverTogether(together)).toEqual([])
  })
})

function sumOf(tables: readonly Readonly<Record<string, number>>[]): ReadonlyMap<string, number> {
  const sum = new Map<string, number>()
  for (const table of tables) {
    for (const [key, count] of Object.entries(table)) sum.set(key, (sum.get(key) ?? 0) + count)
  }
  return sum
}

function neverStruck(hits: ReadonlyMap<string, number>): readonly string[] {
  const struck = (kind: string, phase: string) => hits.has(`${kind} ${phase}`)
  return [
    ...faultKinds.flatMap((kind) =>
      everyKindIn.filter((phase) => !struck(kind, phase)).map((phase) => `${kind} in ${phase}`),
    ),
    ...someKindIn.filter((phase) => !faultKinds.some((kind) => struck(kind, phase))).map((phase) => `any in ${phase}`),
  ]
}

/** Every kind alone and every two together, but for those of which it is told why they cannot. */
function neverTogether(together: ReadonlyMap<string, number>): readonly string[] {
  const names = faultCombinations().map(combinationName)
  return names.filter((name) => together.has(name) === name in impossiblePairs)
}

/** Which trouble struck how often, by the phase of the node it struck. */
function table(hits: ReadonlyMap<string, number>): string {
  const phases = [...new Set([...hits.keys()].map((key) => key.split(' ')[1] ?? ''))].sort()
  const row = (name: string, cells: readonly (string | number)[]) =>
    name.padEnd(22) + cells.map((cell) => String(cell).padStart(18)).join('')
  return [
    row('fault', phases),
    ...faultKinds.map((kind) =>
      row(
        kind,
        phases.map((phase) => hits.get(`${kind} ${phase}`) ?? 0),
      ),
    ),
  ].join('\n')
}
