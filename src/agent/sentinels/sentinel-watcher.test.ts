import { describe, expect, it } from 'vitest'
import { AgentBench, scriptOrder } from '../../../test/agent/agent-bench.ts'
import { nodeStates, type Order, type SentinelFiles } from '../../api/node-state.ts'
import { noteFailure } from './maintenance-failure.ts'
import { sentinelWatcher } from './sentinel-watcher.ts'

const maintenance = { required: '/var/maintenance-required', inProgress: '/var/maintenance-in-progress' }
const reboot = ['/var/run/reboot-required']
const asRoot = { mode: 0o644, owner: 'root', group: 'root' }

class SentinelBench extends AgentBench {
  async launch(sentinels?: SentinelFiles, order?: Order): Promise<void> {
    this.place(sentinels, order)
    this.begin()
    await this.clock.advance(2_000)
  }

  begin(): void {
    this.disk.budget = Number.POSITIVE_INFINITY
    this.start({ sideTasks: [sentinelWatcher] })
  }

  place(sentinels?: SentinelFiles, order?: Order): void {
    this.cluster.place(order)
    const state = this.cluster.node
    if (state) this.cluster.api.put(nodeStates, { ...state, spec: { ...state.spec, ...(sentinels && { sentinels }) } })
  }

  touch(path: string): Promise<void> {
    return this.host.files.write(path, '', asRoot)
  }

  get sentinels() {
    return this.cluster.agent?.sentinels
  }
}

describe('sentinels', () => {
  it('are not looked at without a configuration', async () => {
    const bench = new SentinelBench()
    await bench.touch(maintenance.required)
    await bench.touch('/var/run/reboot-required')
    await bench.launch()
    await bench.clock.advance(3_600_000)
    expect(bench.cluster.agent).toBeDefined()
    expect(bench.sentinels).toBeUndefined()
  })

  it('are told at once, with the time they were first seen, and taken back at once', async () => {
    const bench = new SentinelBench()
    await bench.launch({ maintenance, reboot })
    expect(bench.sentinels).toEqual({})
    const at = bench.clock.now().toISOString()
    await bench.touch(maintenance.required)
    await bench.clock.advance(10)
    expect(bench.sentinels).toEqual({ maintenanceRequired: at })
    await bench.clock.advance(3_600_000)
    await bench.touch('/var/run/reboot-required')
    await bench.clock.advance(10)
    expect(bench.sentinels).toMatchObject({ maintenanceRequired: at, rebootRequired: expect.not.stringMatching(at) })
    await bench.host.files.remove(maintenance.required)
    await bench.host.files.remove('/var/run/reboot-required')
    await bench.clock.advance(10)
    expect(bench.sentinels).toEqual({})
  })

  it('keep their place in the queue through restarts of the agent', async () => {
    const bench = new SentinelBench()
    await bench.touch(maintenance.required)
    await bench.launch({ maintenance })
    const seen = bench.sentinels
    expect(seen?.maintenanceRequired).toBeDefined()
    bench.kill()
    bench.begin()
    await bench.clock.advance(3_600_000)
    expect(bench.sentinels).toEqual(seen)
  })

  it('are found by the slow check where notifications are lost', async () => {
    const bench = new SentinelBench()
    bench.host.files.watch = () => Promise.reject(new Error('no more watches'))
    await bench.launch({ reboot })
    await bench.touch('/var/run/reboot-required')
    await bench.clock.advance(7 * 60_000)
    expect(bench.sentinels).toHaveProperty('rebootRequired')
    expect(bench.logged('no more watches').length).toBeGreaterThan(0)
  })

  it.each([
    { exitCode: 0, wanted: true },
    { exitCode: 1, wanted: false },
    { exitCode: 127, wanted: false },
  ])('may be a command: exit code $exitCode', async ({ exitCode, wanted }) => {
    const bench = new SentinelBench()
    bench.host.answer = ({ argv }) => ({ exitCode: argv[0] === 'needs-reboot' ? exitCode : 99, stdout: '', stderr: '' })
    await bench.launch({ rebootCommand: ['needs-reboot'] })
    expect(bench.sentinels).toEqual(wanted ? { rebootRequired: expect.any(String) } : {})
  })

  it('stay as they were while the command cannot be run', async () => {
    const bench = new SentinelBench()
    bench.host.answer = () => ({ exitCode: 0, stdout: '', stderr: '' })
    await bench.launch({ rebootCommand: ['needs-reboot'] })
    const seen = bench.sentinels
    bench.host.answer = () => {
      throw new Error('it hangs')
    }
    await bench.clock.advance(20 * 60_000)
    expect(seen).toHaveProperty('rebootRequired')
    expect(bench.sentinels).toEqual(seen)
  })
})

describe('a stale in-progress file', () => {
  const order = scriptOrder({ work: { maintenance } })

  it.each([
    { name: 'nobody asked, no order', asked: false, given: undefined, stays: false },
    { name: 'somebody asked', asked: true, given: undefined, stays: true },
    { name: 'an order is open', asked: false, given: order, stays: true },
  ])('$name: stays $stays', async ({ asked, given, stays }) => {
    const bench = new SentinelBench()
    if (asked) await bench.touch(maintenance.required)
    await bench.touch(maintenance.inProgress)
    await bench.launch({ maintenance }, given)
    expect((await bench.host.files.look(maintenance.inProgress)).kind).toBe(stays ? 'file' : 'none')
    expect(bench.sentinels?.maintenanceInProgress !== undefined).toBe(stays)
  })
})

describe('what a script said went wrong', () => {
  it('is told while its request is there, and forgotten with it', async () => {
    const bench = new SentinelBench()
    await bench.touch(maintenance.required)
    await bench.launch({ maintenance })
    await noteFailure(bench.host.files, '/var/lib/slipway', 'disk sdb does not answer', bench.clock.now())
    await bench.clock.advance(10)
    expect(bench.sentinels?.failure).toMatchObject({ code: 'MaintenanceFailed', message: 'disk sdb does not answer' })
    await bench.host.files.remove(maintenance.required)
    await bench.clock.advance(10)
    await bench.touch(maintenance.required)
    await bench.clock.advance(10)
    expect(bench.sentinels).toEqual({ maintenanceRequired: expect.any(String) })
  })
})
