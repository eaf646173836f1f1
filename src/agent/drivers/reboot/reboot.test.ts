import { describe, expect, it } from 'vitest'
import { AgentBench, scriptOrder } from '../../../../test/agent/agent-bench.ts'
import { nodeStates, type Order, type SentinelFiles, type Sentinels } from '../../../api/node-state.ts'
import { folderNotes } from '../../journal/notes.ts'
import { sentinelWatcher } from '../../sentinels/sentinel-watcher.ts'
import { decideReboot, type RebootView } from './decide-reboot.ts'
import { rebootDriver } from './reboot.ts'

const drivers = [rebootDriver]

describe('whether to reboot', () => {
  const view: RebootView = {
    choice: 'Always',
    bootId: 'b2',
    decidedInBoot: undefined,
    begunInBoot: undefined,
    rebootRequired: undefined,
    rebootUnknown: undefined,
  }
  it.each([
    { name: 'always', part: {}, because: undefined },
    { name: 'never', part: { choice: 'Never', rebootRequired: 'libc6' }, because: 'Never' },
    { name: 'not required', part: { choice: 'IfRequired' }, because: 'NotRequired' },
    { name: 'not known', part: { choice: 'IfRequired', rebootUnknown: 'no tool' }, because: 'Unknown' },
    { name: 'required', part: { choice: 'IfRequired', rebootRequired: 'libc6' }, because: undefined },
    { name: 'decided in this boot', part: { decidedInBoot: 'b2' }, because: undefined },
    { name: 'decided in another boot', part: { decidedInBoot: 'b1' }, because: 'BootedSince' },
    { name: 'asked for in this boot, and the agent died', part: { begunInBoot: 'b2' }, because: undefined },
    { name: 'asked for in the last boot', part: { begunInBoot: 'b1', decidedInBoot: 'b1' }, because: 'Done' },
    {
      name: 'asked for in the last boot and required again',
      part: { choice: 'IfRequired', begunInBoot: 'b1', rebootRequired: 'libc6' },
      because: 'Done',
    },
  ] as const)('$name', ({ part, because }) => {
    expect(decideReboot({ ...view, ...part })).toEqual(because ? { reboot: false, because } : { reboot: true })
  })
})

const rebootOrder = (reboot: 'Always' | 'IfRequired', part: Partial<Order> = {}) =>
  scriptOrder({ work: { reboot }, ...part })

/** The machine goes down when it is told to, and its agent with it. */
async function bootedByOrder(order: Order): Promise<AgentBench> {
  const bench = new AgentBench()
  let isDown = false
  bench.host.onReboot = () => {
    isDown = true
    return new Promise(() => undefined)
  }
  bench.cluster.place(order)
  bench.start({ drivers })
  await bench.clock.until(() => isDown || bench.order?.finishedAt !== undefined)
  if (!isDown) return bench
  bench.kill()
  bench.host.losePower(() => 0)
  bench.start({ drivers })
  await bench.clock.until(() => bench.order?.finishedAt !== undefined)
  return bench
}

describe('the reboot driver', () => {
  it('reboots once, is proven by the boot id, and tells when the kubelet went away', async () => {
    const bench = await bootedByOrder(rebootOrder('Always', { bootID: 'boot-1' }))
    expect(bench.order).toMatchObject({ state: 'Succeeded', kubeletRestartedAt: expect.any(String) })
    expect(bench.host.reboots).toBe(1)
  })

  it('leaves a machine alone that asks for no reboot', async () => {
    const bench = await bootedByOrder(rebootOrder('IfRequired'))
    expect(bench.order).toMatchObject({ state: 'Succeeded', steps: [{ name: 'reboot', attempts: 0 }] })
    expect(bench.order?.kubeletRestartedAt).toBeUndefined()
    expect(bench.host.reboots).toBe(0)
  })

  it('says so where nothing can tell whether a reboot is needed', async () => {
    const bench = new AgentBench()
    bench.host.facts_ = { ...bench.host.facts_, rebootUnknown: 'needs-restarting is not installed' }
    bench.cluster.place(rebootOrder('IfRequired'))
    bench.start({ drivers })
    await bench.clock.until(bench.hasEnded('Succeeded'))
    expect(bench.host.reboots).toBe(0)
    expect(bench.order?.warnings).toEqual([
      'whether a reboot is needed cannot be told here: needs-restarting is not installed; there was none',
    ])
  })

  it('never acts on an order of another boot, and says so', async () => {
    const bench = await bootedByOrder(rebootOrder('Always', { bootID: 'boot-0' }))
    expect(bench.host.reboots).toBe(0)
    expect(bench.order).toMatchObject({ state: 'Succeeded', warnings: [expect.stringContaining('booted since')] })
  })

  it('fails where the machine does not go down', async () => {
    const bench = new AgentBench()
    bench.cluster.place(rebootOrder('Always'))
    bench.start({ drivers })
    await bench.clock.until(bench.hasEnded('Failed'))
    expect(bench.order?.reason?.code).toBe('RebootMissing')
  })

  it('asks again in the same boot when the agent died before it could', async () => {
    const bench = new AgentBench()
    let asked = 0
    bench.host.onReboot = () => {
      asked += 1
      return new Promise(() => undefined)
    }
    bench.cluster.place(rebootOrder('Always'))
    bench.start({ drivers })
    await bench.clock.until(() => asked === 1)
    bench.kill()
    bench.disk.budget = Number.POSITIVE_INFINITY
    bench.start({ drivers })
    await bench.clock.until(() => asked === 2)
    bench.kill()
    bench.host.losePower(() => 0)
    bench.start({ drivers })
    await bench.clock.until(bench.hasEnded('Succeeded'))
    expect(asked).toBe(2)
  })
})

describe('a reboot that the work of maintenance asks for', () => {
  const sentinel = '/etc/reboot-wanted'
  const asRoot = { mode: 0o644, owner: 'root', group: 'root' }
  const order = rebootOrder('IfRequired', { kind: 'Maintenance', bootID: 'boot-1' })

  /** What the policy says, and what was seen so far, when the order comes; then the order is let run. */
  async function staged(given: Order, settings: SentinelFiles, before: Sentinels = {}): Promise<AgentBench> {
    const bench = new AgentBench()
    bench.cluster.place({ ...given, desired: 'Stage' })
    const state = bench.cluster.node
    if (!state) throw new Error('there is no NodeState')
    const agent = { version: '1', bootID: 'boot-1', epoch: 0, drivers: [], facts: bench.host.facts_, sentinels: before }
    bench.cluster.api.put(nodeStates, { ...state, spec: { ...state.spec, sentinels: settings }, status: { agent } })
    bench.start({ drivers })
    await bench.clock.until(bench.hasEnded('Staged'))
    return bench
  }

  /** The number of boots by its end; the policy says something else meanwhile. */
  async function boots(bench: AgentBench, given = order, left?: SentinelFiles): Promise<number> {
    bench.host.onReboot = () => new Promise(() => undefined)
    bench.cluster.place(given)
    await bench.clock.until(() => bench.host.reboots === 1 || bench.order?.finishedAt !== undefined)
    if (bench.host.reboots === 0) return 0
    bench.kill()
    bench.host.losePower(() => 0)
    bench.disk.budget = Number.POSITIVE_INFINITY
    const state = bench.cluster.node
    if (state && left) bench.cluster.api.put(nodeStates, { ...state, spec: { ...state.spec, sentinels: left } })
    bench.start({ drivers, sideTasks: [sentinelWatcher] })
    await bench.clock.until(() => bench.order?.finishedAt !== undefined)
    expect(bench.order).toMatchObject({ state: 'Succeeded' })
    return bench.host.reboots
  }

  it.each([
    { exitCode: 0, expected: 1 },
    { exitCode: 1, expected: 0 },
  ])('by the command of the policy, exit code $exitCode', async ({ exitCode, expected }) => {
    const bench = await staged(order, { rebootCommand: ['needs-reboot', '--now'] })
    bench.host.answer = ({ argv }) => ({ exitCode: argv[0] === 'needs-reboot' ? exitCode : 99, stdout: '', stderr: '' })
    expect(await boots(bench)).toBe(expected)
  })

  it('by a sentinel of the policy, once, though it outlives the boot', async () => {
    const bench = await staged(order, { reboot: [sentinel] })
    await bench.host.files.write(sentinel, '', asRoot)
    expect(await boots(bench)).toBe(1)
  })

  it('is not one that a sentinel asked for before an earlier boot', async () => {
    const old = '2025-12-31T00:00:00.000Z'
    const bench = await staged(
      order,
      { rebootCommand: ['needs-reboot'] },
      { rebootRequired: old, rebootAskedIn: 'boot-0' },
    )
    bench.host.answer = () => ({ exitCode: 0, stdout: '', stderr: '' })
    expect(await boots(bench)).toBe(0)
  })

  it.each([
    ['is one that it outlives', 0, 0],
    ['is another one where it is written again', 86_400_000, 1],
    ['is another one where it is written again by a clock that was set back', -86_400_000, 1],
  ])('in a later boot than a sentinel asked to end %s', async (_, laterMs, expected) => {
    const writtenAt = '2025-12-31T00:00:00.000Z'
    const rebootFiles = [{ path: sentinel, writtenAt }]
    const seen = { rebootRequired: writtenAt, rebootAskedIn: 'boot-0', rebootFiles }
    const bench = await staged(order, { reboot: [sentinel] }, seen)
    const file = { kind: 'file', ...asRoot, bytes: 0, modifiedMs: Date.parse(writtenAt) + laterMs } as const
    bench.host.files.look = () => Promise.resolve(file)
    expect(await boots(bench)).toBe(expected)
  })

  it.each([
    ['was not written since', 0, 0],
    ['was written since', 86_400_000, 1],
  ])(
    'is judged by the note that an earlier agent left with a staged order: its sentinel %s',
    async (_, laterMs, expected) => {
      const rebootRequired = '2025-12-31T00:00:00.000Z'
      const bench = await staged(order, { reboot: [sentinel] })
      bench.kill()
      bench.disk.budget = Number.POSITIVE_INFINITY
      const before = { rebootRequired, rebootAskedIn: 'boot-0', rebootWrittenAt: rebootRequired }
      const notes = folderNotes(bench.disk, `/var/lib/slipway/orders/${order.id}/notes`)
      await notes.write('reboot-sentinels', { settings: { reboot: [sentinel] }, before })
      const file = { kind: 'file', ...asRoot, bytes: 0, modifiedMs: Date.parse(rebootRequired) + laterMs } as const
      bench.host.files.look = () => Promise.resolve(file)
      bench.start({ drivers })
      expect(await boots(bench)).toBe(expected)
      expect(bench.logged('JournalCorrupt')).toEqual([])
    },
  )

  it.each([
    ['tmpfs', 'boot-2'],
    ['ext2/ext3', 'boot-1'],
  ])('is of the boot in which a sentinel in %s was written, as far as that can be told: %s', async (type, askedIn) => {
    const settings = { reboot: ['/run/reboot-required'] }
    const always = rebootOrder('Always', { kind: 'Maintenance', bootID: 'boot-1' })
    const bench = await staged(always, settings)
    await bench.host.files.write('/run/reboot-required', '', asRoot)
    bench.host.answer = ({ argv }) => ({ exitCode: argv.at(-1) === '/run/' ? 0 : 1, stdout: `${type}\n`, stderr: '' })
    expect(await boots(bench, always, settings)).toBe(1)
    expect(bench.cluster.agent?.sentinels).toMatchObject({ rebootAskedIn: askedIn })
    expect(await bench.host.bootId()).toBe('boot-2')
  })

  it.each<{ name: string; settings: SentinelFiles }>([
    { name: 'sentinel', settings: { reboot: [sentinel] } },
    { name: 'command', settings: { rebootCommand: ['needs-reboot'] } },
  ])('by a $name that nobody had seen before the boot asks for no other one', async ({ settings }) => {
    const bench = await staged(order, settings)
    bench.host.answer = () => ({ exitCode: 0, stdout: '', stderr: '' })
    await bench.host.files.write(sentinel, '', asRoot)
    expect(await boots(bench, order, settings)).toBe(1)
    await bench.clock.advance(3_600_000)
    expect(await bench.host.bootId()).not.toBe('boot-1')
    expect(bench.cluster.agent?.sentinels).toMatchObject({ rebootAskedIn: 'boot-1' })
  })

  it('is settled with the order, also where the policy has no sentinels', async () => {
    const bench = await staged(order, {})
    const asked = () => bench.cluster.requests.filter((request) => request === 'get nodestates').length
    const before = asked()
    bench.kill()
    bench.restart({ drivers })
    await bench.clock.advance(60_000)
    expect([before, asked()]).toEqual([1, 1])
  })

  it('is not looked for in the order of an update', async () => {
    const { kind: _, ...update } = order
    const bench = await staged(update, { reboot: [sentinel] })
    await bench.host.files.write(sentinel, '', asRoot)
    expect(await boots(bench, update)).toBe(0)
  })

  it('says so where the command cannot be run', async () => {
    const bench = await staged(order, { rebootCommand: ['needs-reboot'] })
    bench.host.answer = () => {
      throw new Error('it hangs')
    }
    expect(await boots(bench)).toBe(0)
    expect(bench.order?.warnings).toEqual([expect.stringContaining('the reboot command could not be run')])
  })
})
