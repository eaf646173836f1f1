import { describe, expect, it } from 'vitest'
import { AgentBench, kubernetesOrder } from '../../test/agent/agent-bench.ts'
import type { Order } from '../api/node-state.ts'
import type { Driver } from './drivers/driver.ts'
import { rehearsalDrivers } from './drivers/rehearsal-kubernetes.ts'

const before = ['upgrade-control-plane', 'upgrade-kubelet', 'restart-kubelet']

/** A step that came with a newer version of the agent, before all others. */
const leaderDriver: Driver = {
  name: 'control-plane',
  concerns: () => true,
  inspect: () => Promise.resolve({}),
  steps: () => [
    {
      name: 'move-leader',
      disruptive: false,
      attempts: 1,
      showsEffect: false,
      argv: () => Promise.resolve(['move-leader']),
    },
  ],
  undo: { possible: true, steps: () => [] },
}

const ran = ({ host }: AgentBench) => host.executions.map(({ step }) => step)

async function begunByOlder(part: Partial<Order>, until: (bench: AgentBench) => boolean): Promise<AgentBench> {
  const bench = new AgentBench()
  bench.cluster.place(kubernetesOrder({ role: 'ControlPlane', ...part }))
  bench.start()
  await bench.clock.until(() => until(bench))
  bench.kill()
  bench.drivers = [leaderDriver, ...bench.drivers]
  return bench
}

describe('an order that an older agent accepted', () => {
  it.each([1, 2, 3])('is ended with the steps it was begun with, when step %i was cut off', async (count) => {
    const bench = await begunByOlder({}, (one) => ran(one).length === count)
    bench.restart()
    await bench.clock.until(bench.hasEnded('Succeeded'))
    expect(ran(bench)).toEqual(before)
    expect(bench.order?.steps.map(({ name }) => name)).toEqual(before)
    expect(bench.logged('JournalCorrupt')).toEqual([])
  })

  it('gets the newer step, too, while none has begun; whenever the agent or the power goes', async () => {
    for (let operations = 0; ; operations++) {
      const bench = await begunByOlder({ desired: 'Stage' }, (one) => one.order?.state === 'Staged')
      bench.cluster.place(kubernetesOrder({ role: 'ControlPlane' }))
      const died = await bench.startAndDieAfter(operations, () => ran(bench).length > 0)
      if (died && operations % 2 === 0) bench.host.losePower(() => bench.random.next())
      bench.restart()
      await bench.clock.until(bench.hasEnded('Succeeded'))
      expect(new Set(ran(bench)), `cut after ${operations} operations`).toEqual(new Set(['move-leader', ...before]))
      expect(bench.order?.steps.map(({ name }) => name)).toEqual(['move-leader', ...before])
      expect(bench.logged('JournalCorrupt')).toEqual([])
      if (!died) break
    }
  })
})

describe('an order of which two steps have one name', () => {
  it('waits for a person before anything of it runs', async () => {
    const bench = new AgentBench()
    bench.drivers = [leaderDriver, leaderDriver, ...bench.drivers]
    bench.cluster.place(kubernetesOrder())
    bench.start()
    await bench.clock.until(bench.hasEnded('RequiresAttention'))
    expect(bench.order?.reason).toMatchObject({
      code: 'JournalCorrupt',
      message: expect.stringContaining('names the step move-leader more than once'),
    })
    expect(ran(bench)).toEqual([])
  })
})

describe('an order that a newer agent accepted', () => {
  it('waits for a person where it was begun with a step that is not known here', async () => {
    const bench = new AgentBench()
    bench.drivers = [leaderDriver, ...bench.drivers]
    bench.cluster.place(kubernetesOrder({ role: 'ControlPlane' }))
    bench.start()
    await bench.clock.until(() => ran(bench).length === 1)
    bench.kill()
    bench.drivers = bench.drivers.slice(1)
    bench.restart()
    await bench.clock.until(bench.hasEnded('RequiresAttention'))
    expect(bench.order?.reason).toMatchObject({
      code: 'JournalCorrupt',
      message: expect.stringContaining('begun with the steps move-leader, which this agent does not have'),
    })
    expect(ran(bench)).toEqual(['move-leader'])
  })

  it('is not taken for done by one without the driver, though none of it has begun', async () => {
    const bench = new AgentBench()
    bench.cluster.place(kubernetesOrder({ desired: 'Stage' }))
    bench.start()
    await bench.clock.until(() => bench.order?.state === 'Staged')
    bench.kill()
    bench.drivers = rehearsalDrivers.filter(({ name }) => name !== 'kubelet')
    bench.cluster.place(kubernetesOrder())
    bench.restart()
    await bench.clock.until(bench.hasEnded('RequiresAttention'))
    expect(ran(bench)).toEqual([])
  })
})
