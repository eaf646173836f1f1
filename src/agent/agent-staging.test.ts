import { describe, expect, it } from 'vitest'
import { AgentBench, idleAgent, scriptOrder } from '../../test/agent/agent-bench.ts'
import { sleep } from '../kube/sleep.ts'
import type { Driver } from './drivers/driver.ts'
import { longWork } from './drivers/long-work.ts'
import { scriptDriver } from './drivers/script.ts'

const staged = (bench: AgentBench) => () => bench.order?.state === 'Staged'

describe('an order that is only to be staged', () => {
  it('fetches what it needs, runs nothing, and waits for the word', async () => {
    const bench = await idleAgent()
    bench.cluster.place(scriptOrder({ desired: 'Stage' }))
    await bench.clock.until(staged(bench))
    await bench.clock.advance(3_600_000)
    expect(bench.host.executions).toEqual([])
    expect(bench.files().some((path) => path.includes('/content/'))).toBe(true)
    bench.cluster.place(scriptOrder())
    await bench.clock.until(bench.hasEnded('Succeeded'))
    expect(bench.host.executions).toHaveLength(1)
  })

  it('is told of as accepted where fetching takes its time', async () => {
    const bench = new AgentBench()
    bench.drivers = [
      { ...scriptDriver, stage: async (_context, signal) => sleep(bench.clock, 60_000, signal).then(() => undefined) },
    ]
    bench.start()
    bench.cluster.place(scriptOrder({ desired: 'Stage' }))
    await bench.clock.advance(1_900)
    expect(bench.order).toMatchObject({ id: 'op-1', state: 'Accepted' })
    bench.kill()
    bench.restart()
    await bench.clock.until(staged(bench))
  })

  it('has its whole time from when it may run, however long it waited', async () => {
    const bench = await idleAgent()
    bench.cluster.place(scriptOrder({ desired: 'Stage', timeout: '30m' }))
    await bench.clock.until(staged(bench))
    await bench.clock.advance(10 * 3_600_000)
    bench.host.behave = () => ({ ms: 20 * 60_000, exitCode: 0 })
    bench.cluster.place(scriptOrder({ timeout: '30m' }))
    await bench.clock.until(bench.hasEnded('Succeeded'))
  })

  it('is still staged after a restart of the agent, and a power loss', async () => {
    const bench = await idleAgent()
    bench.cluster.place(scriptOrder({ desired: 'Stage' }))
    await bench.clock.until(staged(bench))
    bench.kill()
    bench.host.losePower(() => 0)
    bench.restart()
    await bench.clock.advance(60_000)
    expect(bench.order?.state).toBe('Staged')
    expect(bench.host.executions).toEqual([])
    bench.cluster.place(scriptOrder())
    await bench.clock.until(bench.hasEnded('Succeeded'))
  })

  it('never runs once another took its place, and what it kept is closed', async () => {
    const bench = await idleAgent()
    bench.cluster.place(scriptOrder({ desired: 'Stage' }))
    await bench.clock.until(staged(bench))
    bench.cluster.place(scriptOrder({ id: 'op-2', desired: 'Stage' }))
    await bench.clock.until(() => bench.order?.id === 'op-2' && bench.order.state === 'Staged')
    await bench.clock.advance(60_000)
    expect(bench.files()).toContain('/var/lib/slipway/orders/op-1/withdrawn')
    expect(bench.order).toMatchObject({ id: 'op-2', state: 'Staged' })
    bench.cluster.place(scriptOrder())
    await bench.clock.until(bench.hasEnded('Withdrawn'))
    expect(bench.host.executions).toEqual([])
  })

  it('is closed when it is taken away', async () => {
    const bench = await idleAgent()
    bench.cluster.place(scriptOrder({ desired: 'Stage' }))
    await bench.clock.until(staged(bench))
    bench.cluster.place(undefined)
    await bench.clock.until(bench.hasEnded('Withdrawn'))
    expect(bench.host.executions).toEqual([])
  })

  it('that cannot stage says why and has failed', async () => {
    const bench = await idleAgent()
    const wrong = 'ab'.repeat(32)
    bench.cluster.place(
      scriptOrder({
        desired: 'Stage',
        work: { script: { configMap: 'work', namespace: 'slipway-system', sha256: wrong } },
      }),
    )
    await bench.clock.until(bench.hasEnded('Failed'))
    expect(bench.order?.reason?.code).toMatch(/ScriptMissing|ContentMismatch/)
  })
})

describe('staging that does not come to its end', () => {
  /** A unit of the host that runs for a day. */
  const endless: Driver = {
    name: 'script',
    concerns: ({ id }) => id === 'op-1',
    inspect: () => Promise.resolve({}),
    stage: async (staging, signal) => {
      await longWork(staging, { name: 'fetch', argv: ['fetch'], timeoutMs: 86_400_000 }, signal)
      return undefined
    },
    steps: () => [],
    undo: { possible: true, steps: () => [] },
  }

  async function staging(): Promise<AgentBench> {
    const bench = new AgentBench()
    bench.drivers = [endless]
    bench.host.behave = () => ({ ms: 86_400_000, exitCode: 0 })
    bench.cluster.place(scriptOrder({ desired: 'Stage' }))
    bench.start()
    await bench.clock.until(() => bench.host.executions.length === 1)
    return bench
  }

  it('is ended when another order takes its place', async () => {
    const bench = await staging()
    bench.cluster.place(scriptOrder({ id: 'op-2', desired: 'Stage' }))
    await bench.clock.advance(1_000)
    expect(bench.order).toMatchObject({ id: 'op-2', state: 'Staged' })
    expect(bench.host.ended_).toHaveLength(1)
    expect(bench.files()).toContain('/var/lib/slipway/orders/op-1/withdrawn')
  })

  it.each(['Withdraw', 'PutBack'] as const)('is ended when the operator says %s', async (desired) => {
    const bench = await staging()
    bench.cluster.place(scriptOrder({ desired }))
    await bench.clock.advance(1_000)
    expect(bench.order).toMatchObject({ id: 'op-1', state: 'Withdrawn' })
    expect(bench.host.ended_).toHaveLength(1)
  })

  it('is ended when its time is over', async () => {
    const bench = await staging()
    await bench.clock.advance(29 * 60_000)
    expect(bench.host.ended_).toEqual([])
    await bench.clock.advance(2 * 60_000)
    expect(bench.order).toMatchObject({ state: 'Failed', reason: { code: 'OrderTimedOut' } })
    expect(bench.host.ended_).toHaveLength(1)
  })

  it('is ended by the next life of the agent where the order is withdrawn by then', async () => {
    const bench = await staging()
    bench.kill()
    bench.cluster.place(scriptOrder({ desired: 'Withdraw' }))
    bench.restart()
    await bench.clock.advance(1_000)
    expect(bench.order).toMatchObject({ id: 'op-1', state: 'Withdrawn' })
    expect(bench.host.ended_).toHaveLength(1)
  })

  it('goes on without the agent, and is ended by the next one when the API says that another order took its place', async () => {
    const bench = await staging()
    bench.kill()
    bench.cluster.goAway()
    bench.restart()
    await bench.clock.advance(60_000)
    expect(bench.host.executions).toHaveLength(1)
    expect(bench.host.ended_).toEqual([])
    bench.cluster.place(scriptOrder({ id: 'op-2', desired: 'Stage' }))
    bench.cluster.comeBack()
    await bench.clock.advance(120_000)
    expect(bench.order).toMatchObject({ id: 'op-2', state: 'Staged' })
    expect(bench.host.ended_).toHaveLength(1)
  })
})
