import type { SimulateResult } from '../src/cli/dependencies.ts'
import type { Bench } from './figure.ts'
import { runFromSources } from './slipway-process.ts'

const seeds = 500

/** One process on one core, its start included. */
export const faultRuns: Bench = {
  name: 'fault-runs',
  alone: true,
  async measure(signal) {
    const startedMs = performance.now()
    const text = await runFromSources(
      ['simulate', '--faults', 'all', '--nodes', '6', '--seeds', `1..${seeds}`, '--output', 'json'],
      signal,
    )
    const seconds = (performance.now() - startedMs) / 1000
    const { runs, violations } = JSON.parse(text) as SimulateResult
    if (runs !== seeds || violations.length > 0) throw new Error(`${runs} runs, ${violations.length} rules broken`)
    return {
      figures: [
        {
          what: 'fault runs (6 nodes) per second and core',
          measured: runs / seconds,
          wanted: { atLeast: 80 },
          unit: '',
        },
      ],
      seen: { seconds },
    }
  },
}
