import type { NodeSpec } from '../../src/sim/sim-machine.ts'

/** One control-plane node and so many workers, all in one zone. */
export function oneAnd(workers: number): readonly NodeSpec[] {
  const version = 'v1.35.4'
  return [
    { name: 'cp1', role: 'control-plane', version },
    ...Array.from({ length: workers }, (_, index) => ({ name: `w${index + 1}`, role: 'worker' as const, version })),
  ]
}
