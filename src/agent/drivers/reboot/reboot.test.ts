import { describe, expect, it } from 'vitest'
import { AgentBench, scriptOrder } from '../../../../test/agent/agent-bench.ts'
import type { Order } from '../../../api/node-state.ts'
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
