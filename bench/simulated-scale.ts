import type { SimulateResult } from '../src/cli/dependencies.ts'
import type { Bench } from './figure.ts'
import { runFromSources } from './slipway-process.ts'

const podsPerNode = 20
const small = 1250
const big = 5000

export const simulatedScale: Bench = {
  name: 'simulated-scale',
  alone: true,
  async measure(signal) {
    const smallSeconds = await seconds(small, signal)
    const bigSeconds = await seconds(big, signal)
    return {
      figures: [
        {
          what: `slipway simulate --nodes ${big}, ${podsPerNode} pods each, wall clock`,
          measured: bigSeconds,
          wanted: { atMost: 60 },
          unit: 's',
        },
        {
          what: `linear in nodes: time per node at ${big} ÷ at ${small}`,
          measured: bigSeconds / big / (smallSeconds / small),
          wanted: { atMost: 1.3 },
          unit: '×',
        },
      ],
      seen: { smallSeconds, bigSeconds },
    }
  },
}

async function seconds(nodes: number, signal: AbortSignal): Promise<number> {
  const startedMs = performance.now()
  const sizes = ['--nodes', String(nodes), '--pods-per-node', String(podsPerNode)]
  const text = await runFromSources(['simulate', ...sizes, '--output', 'json'], signal)
  const tookMs = performance.now() - startedMs
  const { violations } = JSON.parse(text) as SimulateResult
  if (violations.length > 0) throw new Error(`${violations.length} rules broken with ${nodes} nodes`)
  return tookMs / 1000
}
