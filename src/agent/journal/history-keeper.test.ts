import { describe, expect, it } from 'vitest'
import { AgentBench, scriptOrder } from '../../../test/agent/agent-bench.ts'
import { nodeStates } from '../../api/node-state.ts'
import { historyKeeper } from './history-keeper.ts'
import { prune } from './prune.ts'

const stateDir = '/var/lib/slipway'

class HistoryBench extends AgentBench {
  launch(): void {
    this.disk.budget = Number.POSITIVE_INFINITY
    this.start({ sideTasks: [historyKeeper] })
  }

  async carryOut(id: string): Promise<void> {
    this.place(id)
    await this.clock.until(() => this.order?.id === id && this.order.state === 'Succeeded')
    await this.clock.advance(1_000)
  }

  place(id: string): void {
    this.cluster.place(scriptOrder({ id }))
    const state = this.cluster.node
    const history = { keepOperations: 2, keepFor: '48h' }
    if (state) this.cluster.api.put(nodeStates, { ...state, spec: { ...state.spec, history } })
  }

  orders(): readonly string[] {
    return [...new Set(this.files().map((path) => path.split('/')[5] ?? ''))]
  }
}

async function threeOrders(): Promise<HistoryBench> {
  const bench = new HistoryBench()
  bench.launch()
  for (const id of ['op-1', 'op-2', 'op-3']) await bench.carryOut(id)
  return bench
}

describe('the history on the host', () => {
  it('keeps as many ended orders as the policy says, besides the one that is open', async () => {
    const bench = await threeOrders()
    expect(bench.orders()).toEqual(['op-1', 'op-2', 'op-3'])
    await bench.carryOut('op-4')
    expect(bench.orders()).toEqual(['op-2', 'op-3', 'op-4'])
  })

  it('keeps them as long as the policy says, the newest for good', async () => {
    const bench = await threeOrders()
    await bench.clock.advance(80 * 3_600_000)
    expect(bench.orders()).toEqual(['op-2', 'op-3'])
  })

  it('is cleared away without harm, wherever the agent or the power goes', async () => {
    for (let operations = 1; ; operations++) {
      const bench = await threeOrders()
      const options = { log: bench.log, stateDir, openOrder: 'op-3' }
      const keeping = { operations: 1, forMs: 1e12, logBytes: 1e9 }
      bench.kill()
      let isOver = false
      bench.disk.budget = bench.disk.operations + operations
      void prune({ disk: bench.disk, keeping, ...options }, bench.clock.now()).then(() => {
        isOver = true
      })
      await bench.clock.advance(10)
      if (isOver) break
      if (operations % 2 === 0) bench.host.losePower(() => bench.random.next())
      bench.launch()
      await bench.clock.advance(60_000)
      expect(bench.order?.state).toBe('Succeeded')
      expect(bench.logged('cannot go on')).toEqual([])
      expect(bench.host.executions).toHaveLength(3)
      await prune({ disk: bench.disk, keeping, ...options }, bench.clock.now())
      expect(bench.orders()).toEqual(['op-2', 'op-3'])
    }
  })

  it('holds nothing that was staged for an order that has ended', async () => {
    const bench = await threeOrders()
    bench.kill()
    // As one that died when it had written the end.
    bench.disk.budget = Number.POSITIVE_INFINITY
    await bench.disk.makeFolder(`${stateDir}/orders/op-3/staging`)
    bench.disk.putResult(`${stateDir}/orders/op-3/staging/large.deb`, 'large')
    bench.launch()
    await bench.clock.advance(60_000)
    expect(bench.files().filter((path) => path.includes('/staging'))).toEqual([])
    expect(bench.orders()).toEqual(['op-1', 'op-2', 'op-3'])
  })

  it('leaves alone what cannot be read', async () => {
    const bench = await threeOrders()
    bench.disk.putResult(`${stateDir}/orders/op-1/order.json`, 'half')
    await bench.carryOut('op-4')
    expect(bench.orders()).toEqual(['op-1', 'op-2', 'op-3', 'op-4'])
    expect(bench.logged('cannot be read and stays').length).toBeGreaterThan(0)
  })
})
