import type { ShrunkRun, SimulateOptions } from './dependencies.ts'

/** The shortest history that breaks the rule, and how to run it again. */
export function shrunkText(
  { seed, rule, message, without, faults, nodes, left }: ShrunkRun,
  { faults: asked, nodes: wanted }: Pick<SimulateOptions, 'faults' | 'nodes'>,
): string {
  const kinds = typeof asked === 'string' ? asked : asked.join(',')
  const sized = wanted === undefined ? '' : ` --nodes ${wanted}`
  const lines = [
    `the shortest history that breaks rule ${rule}: ${message}`,
    `  ${nodes} nodes; ${left.length === 0 ? 'nothing special' : left.join(', ')}`,
    ...(faults.length === 0 ? ['  no fault strikes in it'] : []),
    ...faults.map(({ kind, atSeconds, where }) => `  after ${atSeconds} s: ${kind}, ${where}`),
    `run it again: slipway simulate --faults ${kinds}${sized} --seeds ${seed}${without.length > 0 ? ` --without ${without.join(',')}` : ''}`,
  ]
  return `${lines.join('\n')}\n`
}
