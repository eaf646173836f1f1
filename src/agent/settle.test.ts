import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { scriptOrder } from '../../test/agent/agent-bench.ts'
import { StepBench } from '../../test/agent/step-bench.ts'
import { endWork } from './settle.ts'

const process = { pid: 100, startTime: '100', bootId: 'boot-1' }

async function fetching() {
  const bench = new StepBench(scriptOrder())
  await bench.context.notes.write('long-work', { names: ['fetch'] })
  await bench.context.notes.write('fetch', { starts: 1, process })
  const end = (stop: AbortSignal) =>
    endWork({ shop: { ...bench, drivers: [], tell: () => undefined }, context: bench.context }, stop)
  return { bench, end }
}

it.each<[string, (signal: AbortSignal) => Promise<void>]>([
  [
    'of systemd',
    (signal) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true })),
  ],
  ['of a host without systemd', (signal) => delay(3_600_000, undefined, { signal })],
])('a program %s that does not end is told of after a minute, and holds nothing up', async (_, wait) => {
  const { bench, end } = await fetching()
  bench.host.end = (_process: unknown, _graceMs?: number, signal = bench.signal) => wait(signal)
  const ended = end(bench.signal)
  await Promise.all([ended, bench.clock.advance(60_000)])
  expect(bench.warnings).toEqual([expect.stringContaining('was told to end, and goes on')])
})

it('an agent that is told to stop meanwhile does not wait', async () => {
  const { bench, end } = await fetching()
  const life = new AbortController()
  bench.host.end = (_process: unknown, _graceMs?: number, signal = bench.signal) =>
    delay(3_600_000, undefined, { signal })
  const ended = end(life.signal)
  await bench.clock.advance(1)
  life.abort(new Error('stopped'))
  await expect(ended).rejects.toThrow()
  expect(bench.warnings).toEqual([])
})
