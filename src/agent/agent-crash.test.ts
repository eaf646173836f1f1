// Rules 4 and 5: the agent dies, or the machine loses power, at every single disk operation of an order; it is started again and
// the order comes to its right end. The seed of a failure is in its name.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AgentBench, kubernetesOrder, scriptOrder } from '../../test/agent/agent-bench.ts'
import type { Order } from '../api/node-state.ts'

/** How many disk operations the whole of such an order takes. */
async function operationsOf(order: Order): Promise<number> {
  const bench = new AgentBench()
  bench.cluster.place(order)
  bench.start()
  await bench.clock.until(bench.hasEnded('Succeeded'))
  return bench.disk.operations
}

const orders = [
  { name: 'script', order: scriptOrder(), steps: ['script'] },
  {
    name: 'control plane',
    order: kubernetesOrder({ role: 'ControlPlane' }),
    steps: ['upgrade-control-plane', 'upgrade-kubelet', 'restart-kubelet'],
  },
]

describe.each(orders)('an order killed at every disk operation: $name', ({ order, steps }) => {
  it('by the death of the agent: each step runs exactly once', async () => {
    const total = await operationsOf(order)
    expect(total).toBeGreaterThan(20)
    for (let cut = 0; cut <= total; cut++) {
      const bench = new AgentBench(cut)
      bench.cluster.place(order)
      await bench.startAndDieAfter(cut, bench.hasEnded('Succeeded'))
      bench.restart()
      await bench.clock.until(bench.hasEnded('Succeeded'))
      expect(
        bench.host.executions.map(({ step }) => step),
        `killed after ${cut} operations`,
      ).toEqual(steps)
      expect(bench.order?.state).toBe('Succeeded')
    }
  })

  it('by power loss: never damaged, never a finished step again', async () => {
    const total = await operationsOf(order)
    for (let cut = 0; cut <= total; cut++) {
      for (let seed = 0; seed < 5; seed++) {
        const bench = new AgentBench(cut * 100 + seed)
        bench.cluster.place(order)
        await bench.startAndDieAfter(cut, bench.hasEnded('Succeeded'))
        const done = durableSteps(bench)
        const before = bench.host.executions.length
        bench.host.losePower(() => bench.random.next())
        bench.clock.loseTimers(30_000)
        bench.restart()
        await bench.clock.until(bench.hasEnded('Succeeded'))
        const again = bench.host.executions.slice(before).map(({ step }) => step)
        expect(
          again.filter((step) => done.includes(step)),
          `power lost after ${cut} operations, seed ${seed}`,
        ).toEqual([])
        expect(bench.logged('JournalCorrupt')).toEqual([])
      }
    }
  })
})

it('an order whose NodeState is deleted while the agent is dead comes to an end that is told', async () => {
  const order = scriptOrder()
  const total = await operationsOf(order)
  const ends = new Set<string | undefined>()
  for (let cut = 0; cut <= total; cut++) {
    const bench = new AgentBench(cut)
    bench.cluster.place(order)
    await bench.startAndDieAfter(cut, bench.hasEnded('Succeeded'))
    if (bench.host.executions.length === 0) continue
    bench.cluster.beginDeletion()
    bench.restart()
    await bench.clock.until(() => bench.order?.finishedAt !== undefined)
    ends.add(bench.order?.state)
    expect(bench.host.executions, `killed after ${cut} operations`).toHaveLength(1)
  }
  expect([...ends]).toEqual(['Succeeded'])
})

it('survives any sequence of deaths and power losses', async () => {
  const fault = fc.record({ after: fc.nat(60), power: fc.boolean() })
  await fc.assert(
    fc.asyncProperty(fc.array(fault, { maxLength: 6 }), fc.nat(), async (faults, seed) => {
      const bench = new AgentBench(seed)
      bench.cluster.place(kubernetesOrder({ role: 'ControlPlane' }))
      let reboots = 0
      for (const { after, power } of faults) {
        await bench.startAndDieAfter(after, bench.hasEnded('Succeeded'))
        if (!power) continue
        reboots += 1
        bench.host.losePower(() => bench.random.next())
        bench.clock.loseTimers(1_000)
      }
      bench.restart()
      await bench.clock.until(bench.hasEnded('Succeeded'))
      expect(bench.host.executions.length).toBeLessThanOrEqual(3 + reboots)
      expect(bench.logged('JournalCorrupt')).toEqual([])
    }),
    { numRuns: 150 },
  )
})

describe('a program that was killed while no agent looked', () => {
  it('is not run again in the same boot where its effect cannot be looked at', async () => {
    const bench = new AgentBench()
    bench.cluster.place(scriptOrder())
    bench.start()
    await bench.clock.until(() => bench.host.executions.length === 1)
    bench.kill()
    bench.host.killJobs()
    bench.restart()
    await bench.clock.until(bench.hasEnded('Failed'))
    expect(bench.host.executions).toHaveLength(1)
    expect(bench.order?.reason?.message).toContain('whether it did its work is not known')
  })

  it('is run again where it can, if it is not there', async () => {
    const bench = new AgentBench()
    bench.cluster.place(kubernetesOrder())
    bench.start()
    await bench.clock.until(() => bench.host.executions.length === 1)
    bench.kill()
    bench.host.killJobs()
    bench.restart()
    await bench.clock.until(bench.hasEnded('Succeeded'))
    expect(bench.host.executions.map(({ step }) => step)).toEqual([
      'upgrade-kubelet',
      'upgrade-kubelet',
      'restart-kubelet',
    ])
  })
})

it('a step cut off by a reboot is not run again when the order was withdrawn meanwhile', async () => {
  const bench = new AgentBench()
  bench.cluster.place(scriptOrder())
  bench.start()
  await bench.clock.until(() => bench.host.executions.length === 1)
  bench.kill()
  bench.host.losePower(() => 0)
  bench.cluster.place(scriptOrder({ desired: 'Withdraw' }))
  bench.restart()
  await bench.clock.until(bench.hasEnded('Withdrawn'))
  expect(bench.host.executions).toHaveLength(1)
  expect(bench.order?.steps).toMatchObject([{ state: 'Pending', attempts: 1 }])
})

/** The steps whose `.done` would be there after a power loss now. */
function durableSteps(bench: AgentBench): readonly string[] {
  return [...bench.disk.durable.keys()].flatMap((path) => /step-[0-9]+-(.+)\.done$/.exec(path)?.[1] ?? [])
}
