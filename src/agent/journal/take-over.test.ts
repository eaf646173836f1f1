import { describe, expect, it } from 'vitest'
import { AgentBench, script, scriptOrder } from '../../../test/agent/agent-bench.ts'
// Written by the agent of format 1: op-1 has ended, op-2 was killed while its script ran.
import journal from '../../../test/agent/fixtures/journal-format-1.json' with { type: 'json' }
import { sha256 } from './sealed-file.ts'

const orders = '/var/lib/slipway/orders'

async function machineOfFormat1(): Promise<AgentBench> {
  const bench = new AgentBench()
  for (const [path, content] of Object.entries(journal)) {
    await bench.disk.makeFolder(path.slice(0, path.lastIndexOf('/')))
    await bench.disk.write(path, content)
    await bench.disk.sync(path)
  }
  for (const folder of bench.disk.folders) await bench.disk.syncFolder(folder)
  // Booted since: the script that was cut off is run again.
  bench.host.losePower(() => 0)
  return bench
}

describe('a journal of the format before', () => {
  it('is gone on with: the order that was cut off ends, with its script where it belongs now', async () => {
    const bench = await machineOfFormat1()
    bench.cluster.removeScript()
    bench.cluster.place(scriptOrder({ id: 'op-2' }))
    bench.start()
    await bench.clock.until(bench.hasEnded('Succeeded'))
    expect(bench.disk.files.get(`${orders}/op-2/content/${sha256(script)}`)?.content).toBe(script)
    expect(bench.files()).not.toContain(`${orders}/op-2/content`)
    expect(JSON.parse(bench.disk.files.get(`${orders}/op-2/order.json`)?.content ?? '')).toMatchObject({ format: 2 })
  })

  it('is believed: an order that ended then is not run again', async () => {
    const bench = await machineOfFormat1()
    bench.cluster.place(scriptOrder({ id: 'op-1' }))
    bench.start()
    await bench.clock.until(() => bench.order?.id === 'op-1')
    expect(bench.order).toMatchObject({ state: 'Succeeded', finishedAt: '2026-01-01T00:00:01.000Z' })
    expect(bench.host.executions.filter(({ argv }) => argv.join().includes('op-1'))).toEqual([])
  })

  it('is taken over whenever the agent or the power goes in the middle', async () => {
    for (let operations = 1; ; operations++) {
      const bench = await machineOfFormat1()
      bench.cluster.removeScript()
      bench.cluster.place(scriptOrder({ id: 'op-2' }))
      const died = await bench.startAndDieAfter(operations, bench.hasEnded('Succeeded'))
      if (!died) break
      if (operations % 2 === 0) bench.host.losePower(() => bench.random.next())
      bench.restart()
      await bench.clock.until(bench.hasEnded('Succeeded'))
      expect(bench.order?.id).toBe('op-2')
    }
  })
})
