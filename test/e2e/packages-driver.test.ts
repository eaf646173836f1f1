import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JobStep, Staging } from '../../src/agent/drivers/driver.ts'
import { packagesDriver } from '../../src/agent/drivers/packages/packages-driver.ts'
import { folderContent, folderNotes } from '../../src/agent/journal/notes.ts'
import type { Order } from '../../src/api/node-state.ts'
import { silentLog } from '../../src/sim/silent-log.ts'
import { type Bed, openBed } from '../bed/bed.ts'
import type { Machine } from '../bed/machine.ts'
import { hostOfMachine } from '../conformance/host-of-machine.ts'
import { FakeKubeApi } from '../fakes/fake-kube-api.ts'
import { letLockGo, takeLock, tool } from './package-machine.ts'
import { ResidentAgent } from './resident-agent.ts'

const signal = new AbortController().signal
const debian = { Origin: 'Debian', Suite: 'stable' }
const security = { Origin: 'Debian', Label: 'Debian-Security', Suite: 'stable-security' }

let bed: Bed
beforeAll(async () => {
  bed = await openBed()
})
afterAll(async () => {
  await bed.close()
  expect(bed.leftovers()).toEqual([])
})

/** Old packages of a distribution, of which one has a security update and all have newer versions. */
async function oldMachine(repository: string): Promise<Machine> {
  const machine = await bed.machine()
  const names = ['plain', 'leaky', 'kubelet', 'containerd', 'mine']
  const older = names.map((name) => tool(name, '1.0'))
  await bed.trust(machine, 'debian', await bed.publish(repository, older, { release: debian }))
  await machine.run(['apt-get', 'update'])
  await machine.run(['apt-get', '-y', 'install', ...names])
  await machine.run(['apt-mark', 'hold', 'mine'])
  await machine.run(['apt-mark', 'auto', 'plain'])
  const newer = names.map((name) => tool(name, '3.0'))
  const grown = tool('plain', '3.1', { control: { Depends: 'fresh' } })
  await bed.publish(repository, [...newer, grown, tool('fresh', '1.0')], { release: debian })
  const fixed = [tool('leaky', '1.0+deb1'), tool('kubelet', '1.0+deb1'), tool('mine', '1.0+deb1')]
  await bed.trust(machine, 'security', await bed.publish(`${repository}-security`, fixed, { release: security }))
  return machine
}

function stagingOn(machine: Machine, packages: 'Security' | 'All'): Staging & { readonly warnings: string[] } {
  const host = hostOfMachine(machine)
  const order: Order = {
    id: 'u-1',
    update: 'u',
    nodeUID: 'n',
    epoch: 1,
    role: 'Worker',
    offline: 'Refused',
    desired: 'Run',
    rollback: 'All',
    timeout: '30m',
    work: { os: { packages } },
  }
  const warnings: string[] = []
  const folder = '/var/lib/slipway/orders/u-1'
  return {
    host,
    order,
    nodeName: 'node1',
    log: silentLog,
    notes: folderNotes(host.disk, `${folder}/notes`),
    content: folderContent(host.disk, `${folder}/content`),
    stagingFolder: `${folder}/staging`,
    begunInBoot: undefined,
    api: new FakeKubeApi(),
    warnings,
    warn: (message) => {
      warnings.push(message)
      return Promise.resolve()
    },
  }
}

async function take(machine: Machine, staging: Staging, steps: readonly unknown[]): Promise<void> {
  const [step] = steps as readonly JobStep[]
  if (!step) throw new Error('there is no step')
  expect(await step.holds?.(staging, signal)).toBe(false)
  const argv = await step.argv(staging, signal)
  await machine.run(argv, { env: step.env ?? {} })
  expect(await step.missing?.(staging, signal)).toBeUndefined()
  expect(await step.holds?.(staging, signal)).toBe(true)
}

const versions = async (machine: Machine) =>
  (await machine.run(['dpkg-query', '-Wf', `\${Package} \${Version} \${db:Status-Want}\n`]))
    .split('\n')
    .filter((line) => /^(plain|leaky|kubelet|containerd|mine|fresh) /.test(line))

describe('the driver packages on a booted machine', () => {
  it('takes security updates only, and not those of Kubernetes', async () => {
    const machine = await oldMachine('first')
    const staging = stagingOn(machine, 'Security')
    expect(await packagesDriver.stage?.(staging, signal)).toBeUndefined()
    await take(machine, staging, packagesDriver.steps(staging.order))
    expect(await versions(machine)).toEqual([
      'containerd 1.0 install',
      'kubelet 1.0 install',
      'leaky 1.0+deb1 install',
      'mine 1.0 hold',
      'plain 1.0 install',
    ])
    await machine.destroy()
  })

  it('says on the NodeState who has the lock, and goes on when that one lets go', async () => {
    const machine = await oldMachine('locked')
    await takeLock(machine)
    const { order } = stagingOn(machine, 'Security')
    {
      await using agent = new ResidentAgent(machine, () => [packagesDriver])
      agent.cluster.place({ ...order, nodeUID: 'node-uid' })
      const waiting = await agent.until(order.id, ({ reason }) => reason?.code === 'PackageLockHeld')
      expect(waiting).toMatchObject({ state: 'Running', steps: [{ name: 'upgrade-packages', state: 'Running' }] })
      expect(waiting.reason?.message).toMatch(
        /^step upgrade-packages waits: the package manager is in use by process [0-9]+ \(perl\)$/,
      )
      expect(await versions(machine)).toContain('leaky 1.0 install')
      await letLockGo(machine)
      const ended = await agent.until(order.id, ({ state }) => state === 'Succeeded' || state === 'Failed')
      expect(ended).toMatchObject({ state: 'Succeeded', steps: [{ attempts: 1 }] })
      expect(ended.reason).toBeUndefined()
    }
    expect(await versions(machine)).toContain('leaky 1.0+deb1 install')
    await machine.destroy()
  })

  it('takes all updates, says what was kept back, and goes back', async () => {
    const machine = await oldMachine('second')
    const staging = stagingOn(machine, 'All')
    const before = await packagesDriver.inspect(staging, signal)
    const marked = await machine.run(['apt-mark', 'showauto'])
    expect(await packagesDriver.stage?.(staging, signal)).toBeUndefined()
    expect(staging.warnings).toEqual(['kept back by the package manager: mine'])
    expect(await packagesDriver.inspect(staging, signal)).toEqual(before)
    // Staged once, nothing is asked again while the node is drained.
    await machine.unplug()
    expect(await packagesDriver.stage?.(staging, signal)).toBeUndefined()
    await take(machine, staging, packagesDriver.steps(staging.order))
    expect(await versions(machine)).toEqual([
      'containerd 1.0 install',
      'fresh 1.0 install',
      'kubelet 1.0 install',
      'leaky 3.0 install',
      'mine 1.0 hold',
      'plain 3.1 install',
    ])
    expect((await machine.run(['apt-mark', 'showauto', 'fresh', 'plain'])).split('\n').sort()).toEqual([
      '',
      'fresh',
      'plain',
    ])
    if (!packagesDriver.undo.possible) throw new Error('it can be undone')
    await take(machine, staging, packagesDriver.undo.steps(staging.order))
    expect(await packagesDriver.inspect(staging, signal)).toEqual(before)
    expect(await machine.run(['apt-mark', 'showauto'])).toBe(marked)
    await machine.destroy()
  })
})
