import { describe, expect, it } from 'vitest'
import { type AgentBench, idleAgent, scriptOrder } from '../../test/agent/agent-bench.ts'

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
