// The wall clock is set where no life of the agent sees it: it counts by the machine's own count of time, as long as that goes on.

import { describe, expect, it } from 'vitest'
import { AgentBench, idleAgent, kubernetesOrder, scriptOrder } from '../../test/agent/agent-bench.ts'
import { SlipwayError } from '../api/slipway-error.ts'
import type { Driver, JobStep } from './drivers/driver.ts'

const day = 24 * 3_600_000

function killedWhile(bench: AgentBench, setForwardMs: number): void {
  bench.kill()
  bench.clock.setForward(setForwardMs)
  bench.restart()
}

function driver(...steps: readonly Pick<JobStep, 'name' | 'timeoutMs'>[]): Driver {
  return {
    name: 'script',
    concerns: () => true,
    inspect: () => Promise.resolve({}),
    steps: () =>
      steps.map((step) => ({
        disruptive: false,
        attempts: 1,
        showsEffect: false,
        argv: () => Promise.resolve([step.name]),
        ...step,
      })),
    undo: { possible: false, because: 'it is of no use', endsUndo: 'Never' },
  }
}

/** Its first program has begun, and takes that long as the others do. */
async function begunAgent(driver: Driver, ms: number): Promise<AgentBench> {
  const bench = new AgentBench()
  bench.drivers = [driver]
  bench.host.behave = () => ({ ms, exitCode: 0 })
  bench.cluster.place(scriptOrder({ timeout: '5m' }))
  bench.start()
  await bench.clock.until(() => bench.host.executions.length === 1)
  return bench
}

/** A minute is the time-out of its own. */
const timed = driver({ name: 'timed', timeoutMs: 60_000 })

function bootSettingClock(bench: AgentBench, setForwardMs: number): void {
  bench.kill()
  bench.host.losePower(() => bench.random.next())
  bench.clock.loseTimers(60_000)
  bench.clock.setForward(setForwardMs)
  bench.restart()
}

describe('a wall clock that is set while the agent is away', () => {
  it.each([
    ['forward', day],
    ['back', -day],
  ])('%s: the program that runs goes on, and the order succeeds', async (_, ms) => {
    const bench = await idleAgent()
    bench.cluster.place(kubernetesOrder({ timeout: '5m' }))
    await bench.clock.until(() => bench.host.executions.length === 1)
    killedWhile(bench, ms)
    await bench.clock.until(() => bench.order?.finishedAt !== undefined)
    expect(bench.order?.state).toBe('Succeeded')
    expect(bench.host.ended_).toEqual([])
  })

  it('takes no time from a program with a time-out of its own either', async () => {
    const bench = await begunAgent(timed, 50_000)
    await bench.clock.advance(20_000)
    killedWhile(bench, day)
    await bench.clock.until(() => bench.order?.finishedAt !== undefined)
    expect(bench.order?.state).toBe('Succeeded')
  })

  it('gives such a program no more time, and says how long it had', async () => {
    const bench = await begunAgent(timed, 3_600_000)
    await bench.clock.advance(40_000)
    killedWhile(bench, -day)
    await bench.clock.until(() => bench.order?.finishedAt !== undefined)
    expect(bench.order?.steps[0]?.reason).toMatchObject({
      code: 'StepTimedOut',
      message: expect.stringContaining('ended after 1m'),
    })
  })

  it('gives the order no more time, whichever program runs', async () => {
    const bench = await begunAgent(driver({ name: 'one' }, { name: 'two' }), 200_000)
    await bench.clock.until(() => bench.host.executions.length === 2)
    killedWhile(bench, -day)
    await bench.clock.until(() => bench.order?.finishedAt !== undefined)
    expect(bench.order?.steps[1]?.reason?.message).toContain('ended after 1m40s')
  })

  it('is no time of an order of which no program has begun yet', async () => {
    const bench = new AgentBench()
    const failing = () => Promise.reject(new SlipwayError('StagingFailed', 'it is not there yet'))
    bench.drivers = [{ ...driver({ name: 'one' }), stage: failing }]
    bench.cluster.place(scriptOrder({ timeout: '5m' }))
    bench.start()
    await bench.clock.until(() => bench.order?.reason?.code === 'StagingFailed')
    bench.drivers = [driver({ name: 'one' })]
    killedWhile(bench, day)
    await bench.clock.until(() => bench.order?.finishedAt !== undefined)
    expect(bench.order?.state).toBe('Succeeded')
  })

  it('is no time of the order, wherever in the start of a program the agent died', async () => {
    for (let operations = 1; ; operations++) {
      const bench = await idleAgent()
      bench.cluster.place(scriptOrder({ timeout: '5m' }))
      await bench.clock.until(() => bench.disk.files.has('/var/lib/slipway/orders/op-1/notes/time'))
      bench.kill()
      bench.disk.budget = Number.POSITIVE_INFINITY
      const died = await bench.startAndDieAfter(operations, bench.hasEnded('Succeeded'))
      if (!died) break
      killedWhile(bench, day)
      await bench.clock.until(() => bench.order?.finishedAt !== undefined)
      expect(bench.order?.state, `died after ${operations} operations`).toBe('Succeeded')
    }
  })
})

describe('an order that goes on after a boot', () => {
  it('has used what the wall clock says, and from then on what the machine counts', async () => {
    const bench = await begunAgent(driver({ name: 'long' }), 200_000)
    bootSettingClock(bench, 0)
    await bench.clock.until(() => bench.host.executions.length === 2)
    killedWhile(bench, day)
    await bench.clock.until(() => bench.order?.finishedAt !== undefined)
    expect(bench.order?.state).toBe('Succeeded')
  })

  it('is not charged for a clock that was put right before the boot', async () => {
    const bench = await begunAgent(driver({ name: 'one' }, { name: 'two' }), 200_000)
    bench.clock.setForward(day)
    await bench.clock.until(() => bench.host.executions.length === 2)
    bootSettingClock(bench, 0)
    await bench.clock.until(() => bench.host.executions.length === 3)
    await bench.clock.until(() => bench.order?.finishedAt !== undefined)
    expect(bench.order?.steps[1]?.reason?.message).toContain('ended after 40s')
  })

  it('has not the time anew that it had used, though its clock went back', async () => {
    const bench = await begunAgent(driver({ name: 'one' }, { name: 'two' }), 200_000)
    await bench.clock.until(() => bench.host.executions.length === 2)
    bootSettingClock(bench, -day)
    await bench.clock.until(() => bench.order?.finishedAt !== undefined)
    expect(bench.order?.steps[1]?.reason?.message).toContain('ended after 1m40s')
  })
})
