import { describe, expect, it } from 'vitest'
import type { SimulateOptions } from '../../cli/dependencies.ts'
import { differenceOf } from '../../cli/simulation-record.ts'
import { simulateRole } from './simulate-role.ts'

const { signal } = new AbortController()
const run = (options: Partial<SimulateOptions>) =>
  simulateRole(
    '0.0.0',
    { nodes: 6, podsPerNode: 5, faults: 'none', seeds: { first: 3, last: 4 }, maxUnavailable: 1, ...options },
    () => undefined,
    signal,
  )

describe('a simulation', () => {
  it.each(['none', 'all'] as const)('with faults %s is the same again, to the byte of each write', async (faults) => {
    const [first, second] = [await run({ faults, record: true }), await run({ faults, record: true })]
    expect(first.recorded?.map(({ seed }) => seed)).toEqual([3, 4])
    expect(first.recorded?.reduce((sum, { writes }) => sum + writes, 0)).toBeGreaterThan(200)
    expect(second.recorded).toEqual(first.recorded)
    const other = await run({ faults, record: true, seeds: { first: 4, last: 5 } })
    expect(differenceOf(first.recorded ?? [], other.recorded ?? [])).toMatch(/^seed 3: another write/)
  })

  it('tells why things waited, what took longest first', async () => {
    const { waits = [] } = await run({ explain: true })
    const codes = waits.map(({ code }) => code)
    expect(codes.length).toBeGreaterThan(0)
    expect(waits.map(({ totalSeconds }) => totalSeconds)).toEqual(
      waits.map(({ totalSeconds }) => totalSeconds).toSorted((a, b) => b - a),
    )
    expect(waits[0]?.longest.who).toMatch(/^(node|update) /)
  })

  it('follows nothing where nobody asked', async () => {
    expect(Object.keys(await run({}))).toEqual(['runs', 'violations', 'rollouts'])
  })
})
