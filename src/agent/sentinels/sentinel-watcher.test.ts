import { describe, expect, it } from 'vitest'
import { AgentBench, scriptOrder } from '../../../test/agent/agent-bench.ts'
import { nodeStates, type Order, type SentinelFiles } from '../../api/node-state.ts'
import { maintenanceDriver } from '../drivers/maintenance/maintenance.ts'
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

  it('are another request when they were served and made again while nobody could look', async () => {
    const bench = new SentinelBench()
    bench.drivers = [...bench.drivers, maintenanceDriver(bench)]
    let answer: (() => void) | undefined
    await bench.touch(maintenance.required)
    const sentinels = { maintenance, rebootCommand: ['slow'] }
    await bench.launch(sentinels)
    const first = bench.sentinels?.maintenanceRequired
    bench.place(sentinels, scriptOrder({ work: { maintenance } }))
    await bench.clock.until(() => bench.sentinels?.maintenanceInProgress !== undefined)
    const { run } = bench.host
    bench.host.run = async (...given) => {
      await new Promise<void>((resolve) => {
        answer = resolve
      })
      return run.apply(bench.host, given)
    }
    await bench.host.files.remove(maintenance.required)
    await bench.clock.until(bench.hasEnded('Succeeded'))
    await bench.touch(maintenance.required)
    await bench.clock.advance(1_000)
    expect(answer).toBeDefined()
    bench.host.run = run
    answer?.()
    await bench.clock.advance(1_000)
    const again = bench.sentinels?.maintenanceRequired ?? ''
    expect(again > (first ?? '')).toBe(true)
    await bench.clock.advance(3_600_000)
    expect(bench.sentinels?.maintenanceRequired).toBe(again)
  })

  it('are one request, however often they are looked at, after the clock was set back', async () => {
    const bench = new SentinelBench()
    bench.drivers = [...bench.drivers, maintenanceDriver(bench)]
    await bench.touch(maintenance.required)
    await bench.launch({ maintenance })
    bench.place({ maintenance }, scriptOrder({ work: { maintenance } }))
    await bench.clock.until(() => bench.sentinels?.maintenanceInProgress !== undefined)
    await bench.host.files.remove(maintenance.required)
    await bench.clock.until(bench.hasEnded('Succeeded'))
    await bench.clock.advance(1_000)
    bench.clock.setForward(-6 * 3_600_000)
    await bench.touch(maintenance.required)
    await bench.clock.advance(10)
    const asked = bench.sentinels
    expect(asked?.maintenanceRequired).toBeDefined()
    await bench.clock.advance(3_600_000)
    expect(bench.sentinels).toEqual(asked)
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
    expect(bench.sentinels).toEqual(
      wanted ? { rebootRequired: expect.any(String), rebootAskedIn: 'boot-1', rebootFiles: [] } : {},
    )
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
  const goesOn = () => new Promise<void>(() => undefined)
  /** Carries maintenance orders out and leaves the files alone. */
  const able = (act: () => Promise<void> = goesOn) => {
    const bench = new SentinelBench()
    const driver = maintenanceDriver(bench)
    const steps = () => [{ name: 'maintenance', disruptive: false, attempts: 1, act }]
    bench.drivers = [...bench.drivers, { ...driver, steps }]
    return bench
  }
  const isThere = async (bench: SentinelBench) =>
    (await bench.host.files.look(maintenance.inProgress)).kind === 'file' &&
    bench.sentinels?.maintenanceInProgress !== undefined

  it.each<[string, boolean, Order | undefined, boolean]>([
    ['nobody asked, no order', false, undefined, false],
    ['somebody asked, no order', true, undefined, false],
    ['an order is open', false, order, true],
    ['somebody asked, and an order is open', true, order, true],
    ['the order only stages, so nobody is let in yet', true, { ...order, desired: 'Stage' }, false],
    ['an order for other work is open', true, scriptOrder(), false],
  ])('%s', async (_name, asked, given, stays) => {
    const bench = able()
    if (asked) await bench.touch(maintenance.required)
    await bench.touch(maintenance.inProgress)
    await bench.launch({ maintenance }, given)
    expect(await isThere(bench)).toBe(stays)
    expect(bench.sentinels?.maintenanceRequired !== undefined).toBe(asked)
  })

  it.each([true, false])('is one whose order has ended, asked for %s', async (asked) => {
    const bench = able(() => Promise.resolve())
    await bench.launch({ maintenance }, order)
    await bench.clock.until(bench.hasEnded('Succeeded'))
    bench.kill()
    bench.disk.budget = Number.POSITIVE_INFINITY
    if (asked) await bench.touch(maintenance.required)
    await bench.touch(maintenance.inProgress)
    bench.begin()
    await bench.clock.advance(2_000)
    expect(await isThere(bench)).toBe(false)
  })

  it('is looked for at the start: what comes later is the word of an order', async () => {
    const bench = new SentinelBench()
    await bench.touch(maintenance.required)
    await bench.launch({ maintenance })
    await bench.touch(maintenance.inProgress)
    await bench.clock.advance(600_000)
    expect(bench.sentinels).toHaveProperty('maintenanceInProgress')
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
