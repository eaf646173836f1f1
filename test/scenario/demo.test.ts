// What `slipway demo` promises on its first page: all its trouble happens, and the upgrade finishes all the same.

import { describe, expect, it } from 'vitest'
import { SystemClock } from '../../src/adapters/clock/system-clock.ts'
import { SystemRandom } from '../../src/adapters/random/system-random.ts'
import { demoRole } from '../../src/main/roles/demo-role.ts'

describe('the demo', () => {
  it.each([1, 2, 3])('with seed %i', async (seed) => {
    const notes: string[] = []
    const sink = { show: () => {}, note: (_at: Date, text: string) => notes.push(text), end: () => {} }
    const options = { nodes: 12, seed, speed: Number.POSITIVE_INFINITY }
    const deps = { clock: new SystemClock(), random: new SystemRandom(), version: '0.1.0' }
    const figures = await demoRole(deps, options, sink, new AbortController().signal)
    expect(figures).toMatchObject({ phase: 'Succeeded', violations: [] })
    for (const told of ['is killed', 'loses power', 'down to two replicas', 'a third replica'])
      expect(notes.join('\n')).toContain(told)
  })

  it('on the smallest cluster it takes', async () => {
    const sink = { show: () => {}, note: () => {}, end: () => {} }
    const options = { nodes: 3, seed: 1, speed: Number.POSITIVE_INFINITY }
    const deps = { clock: new SystemClock(), random: new SystemRandom(), version: '0.1.0' }
    expect(await demoRole(deps, options, sink, new AbortController().signal)).toMatchObject({ phase: 'Succeeded' })
  })
})
