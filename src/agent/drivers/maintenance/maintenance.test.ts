import { describe, expect, it } from 'vitest'
import { AgentBench, scriptOrder } from '../../../../test/agent/agent-bench.ts'
import type { Order } from '../../../api/node-state.ts'
import { maintenanceDriver } from './maintenance.ts'

const required = '/var/maintenance-required'
const inProgress = '/var/maintenance-in-progress'
const asRoot = { mode: 0o644, owner: 'root', group: 'root' }

const order = (part: Partial<Order> = {}) =>
  scriptOrder({ kind: 'Maintenance', update: 'default', work: { maintenance: { required, inProgress } }, ...part })

class MaintenanceBench extends AgentBench {
  launch(): void {
    this.start({ drivers: [maintenanceDriver(this)] })
  }

  relaunch(): void {
    this.disk.budget = Number.POSITIVE_INFINITY
    this.launch()
  }

  ask(): Promise<void> {
    return this.host.files.write(required, '', asRoot)
  }

  finish(): Promise<void> {
    // The machine is well, also when the agent is dead.
    this.disk.budget = Number.POSITIVE_INFINITY
    return this.host.files.remove(required)
  }

  async there(): Promise<readonly string[]> {
    const names = await this.host.files.names('/var')
    return names.filter((name) => name.startsWith('maintenance-'))
  }

  async waiting(): Promise<void> {
    await this.clock.until(() => this.order?.state === 'Running')
    await this.clock.advance(10)
  }
}

async function underMaintenance(given = order()): Promise<MaintenanceBench> {
  const bench = new MaintenanceBench()
  await bench.ask()
  bench.cluster.place(given)
  bench.launch()
  await bench.waiting()
  return bench
}

describe('maintenance by a script of the host', () => {
  it('is let in by the file, and ends at once when the script takes its request away', async () => {
    const bench = await underMaintenance()
    expect(await bench.there()).toEqual(['maintenance-in-progress', 'maintenance-required'])
    expect(bench.order?.steps).toMatchObject([{ name: 'maintenance', state: 'Running' }])
    await bench.finish()
    await bench.clock.advance(100)
    expect(bench.order?.state).toBe('Succeeded')
    expect(await bench.there()).toEqual([])
  })

  it('does nothing where the request was taken back before its turn came', async () => {
    const bench = new MaintenanceBench()
    bench.cluster.place(order())
    bench.launch()
    await bench.clock.until(bench.hasEnded('Succeeded'))
    expect(bench.order?.steps.map(({ attempts }) => attempts)).toEqual([0])
    expect(await bench.there()).toEqual([])
  })

  it('waits on after its time is over: a request that stays is how a script says that it failed', async () => {
    const bench = await underMaintenance(order({ timeout: '30m' }))
    await bench.clock.advance(20 * 3_600_000)
    expect(bench.order?.state).toBe('Running')
    expect(await bench.there()).toContain('maintenance-in-progress')
    await bench.finish()
    await bench.clock.advance(100)
    expect(bench.order?.state).toBe('Succeeded')
  })

  it('goes on after any number of restarts of the agent, also past its time', async () => {
    const bench = await underMaintenance()
    for (let life = 0; life < 8; life++) {
      bench.kill()
      bench.relaunch()
      await bench.clock.advance(10 * 60_000)
      expect(bench.order?.state).toBe('Running')
    }
    bench.kill()
    await bench.finish()
    bench.relaunch()
    await bench.clock.advance(1_000)
    expect(bench.order?.state).toBe('Succeeded')
    expect(await bench.there()).toEqual([])
  })

  it('goes on after a reboot, and says again that the script may work', async () => {
    const bench = await underMaintenance()
    bench.kill()
    bench.host.losePower(() => 0)
    await bench.host.files.remove(inProgress)
    bench.relaunch()
    await bench.clock.advance(1_000)
    expect(await bench.there()).toEqual(['maintenance-in-progress', 'maintenance-required'])
    await bench.finish()
    await bench.clock.advance(100)
    expect(bench.order?.state).toBe('Succeeded')
  })

  it('is not cut short by a withdrawal: nobody knows what the script is in the middle of', async () => {
    const bench = await underMaintenance()
    bench.cluster.place(order({ desired: 'Withdraw' }))
    await bench.clock.advance(60_000)
    expect(bench.order?.state).toBe('Running')
    await bench.finish()
    await bench.clock.advance(100)
    expect(bench.order?.state).toBe('Succeeded')
    expect(await bench.there()).toEqual([])
  })

  it('ends by the slow check where notifications are lost', async () => {
    const bench = await underMaintenance()
    bench.host.files.watch = () => Promise.reject(new Error('no more watches'))
    bench.disk.files.delete(`/pretend/files/${encodeURIComponent(required)}`)
    await bench.clock.advance(8 * 60_000)
    expect(bench.order?.state).toBe('Succeeded')
  })
})
