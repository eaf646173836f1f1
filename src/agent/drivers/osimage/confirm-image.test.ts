// The confirmation of an image that was booted: against a guard that is as quick, tools that fail, and an API that is away.

import { expect, it } from 'vitest'
import { AgentBench, scriptOrder } from '../../../../test/agent/agent-bench.ts'
import { PretendImageTools, pretendImage, repository } from '../../../../test/agent/pretend-image-tools.ts'
import { keyPairSignatures } from '../../../adapters/oci/key-pair-signatures.ts'
import type { Order } from '../../../api/node-state.ts'
import { SlipwayError } from '../../../api/slipway-error.ts'
import { hasGuardFiles } from './boot-guard.ts'
import { guardFolder } from './guard-script.ts'
import { osImageDriver } from './osimage-driver.ts'

const [old, next] = [pretendImage('3.0'), pretendImage('4.0')]

class Machine {
  readonly bench: AgentBench
  readonly tools: PretendImageTools

  constructor(seed = 1) {
    this.bench = new AgentBench(seed)
    this.bench.drivers = [osImageDriver({ clock: this.bench.clock, signatures: keyPairSignatures })]
    this.tools = new PretendImageTools(this.bench, 'rpm-ostree', old)
    this.tools.publish('stable', next)
  }

  place(part: Partial<Order> = {}): void {
    const os = { image: `${repository}:stable` }
    this.bench.cluster.place(scriptOrder({ work: { os }, rollback: 'Image', ...part }))
  }

  /** Up to where the machine goes down for it. */
  async reboots(): Promise<void> {
    this.place()
    this.bench.start()
    await this.bench.clock.until(() => this.bench.host.reboots === 1)
  }

  has(file: string): Promise<boolean> {
    return this.bench.host.files.read(`${guardFolder}/${file}`).then((text) => text !== undefined)
  }

  isGuarded(): Promise<boolean> {
    return hasGuardFiles(this.bench.host)
  }

  /** As `mv` in its script does: at once. */
  guardGoesBack(): void {
    const { files } = this.bench.disk
    const [from, to] = ['armed', 'returning'].map(
      (name) => `/pretend/files/${encodeURIComponent(`${guardFolder}/${name}`)}`,
    )
    const armed = files.get(from ?? '')
    if (!armed) return
    files.delete(from ?? '')
    this.bench.disk.durable.delete(from ?? '')
    this.bench.disk.putResult(to ?? '', armed.content)
  }
}

it('an image that the guard has begun to leave is not confirmed', async () => {
  const host = new Machine()
  await host.reboots()
  let looks = 0
  let wasLeft = false
  host.tools.override = ([program, word]) => {
    if (word === 'show') looks += 1
    // Its time is over just as the kubelet has been up for long enough.
    if (looks === 10) host.guardGoesBack()
    if (program === '/bin/sh')
      wasLeft = [...host.bench.disk.files.keys()].some((path) => path.endsWith(encodeURIComponent('/returning')))
    return undefined
  }
  host.tools.boot('orderly')
  await host.tools.until('Failed')
  expect(looks).toBeGreaterThan(10)
  expect(wasLeft).toBe(true)
  expect(host.bench.order).toMatchObject({ rolledBack: true, reason: { code: 'ImageRolledBack' } })
  expect(host.tools.booted.digest).toBe(old.digest)
  expect(await host.isGuarded()).toBe(false)
})

it('an image that the guard has begun to leave is left where its order was withdrawn', async () => {
  const host = new Machine()
  await host.reboots()
  host.place({ desired: 'Withdraw' })
  let looks = 0
  host.tools.override = ([, word]) => {
    if (word === 'show') looks += 1
    if (looks === 10) host.guardGoesBack()
    return undefined
  }
  host.tools.boot('orderly')
  await host.tools.until('Withdrawn')
  expect(host.tools.booted.digest).toBe(old.digest)
  expect(host.bench.order?.warnings).toContainEqual(expect.stringContaining('the boot guard went back'))
})

it('an image is confirmed also where the agent is killed at any write of it', { timeout: 60_000 }, async () => {
  for (let cut = 0; cut <= 60; cut++) {
    const host = new Machine(cut)
    await host.reboots()
    host.tools.boot('orderly')
    const { bench } = host
    bench.disk.budget = bench.disk.operations + cut
    let dead = false
    bench.disk.onSpent = () => {
      dead = true
    }
    await bench.clock.until(() => dead || bench.order?.state === 'Succeeded')
    bench.kill()
    bench.restart()
    await host.tools.until('Succeeded')
    expect(host.tools.booted.digest, `killed after ${cut} operations`).toBe(next.digest)
    expect(await host.isGuarded()).toBe(false)
  }
})

it('a guard that is taken away does not run on', async () => {
  const host = new Machine()
  await host.reboots()
  await host.tools.until('Succeeded')
  expect(host.tools.asked).toContain('systemctl stop slipway-boot-guard.service')
})

const failed = { exitCode: 1, stdout: '', stderr: 'Failed to connect to bus' }

it('an image that is well is kept though each look at it, and all that clears its guard away, fails once', async () => {
  const host = new Machine()
  await host.reboots()
  host.tools.boot('orderly')
  const asked = new Map<string, number>()
  host.tools.override = (argv) => {
    const words = argv.join(' ')
    const times = (asked.get(words) ?? 0) + 1
    asked.set(words, times)
    if (times > 1) return undefined
    if (argv.includes('show')) throw new SlipwayError('CommandTimedOut', 'systemctl did not end within 60 s')
    return argv[0] === 'systemctl' || argv[0] === 'rpm-ostree' ? failed : undefined
  }
  await host.tools.until('Succeeded')
  expect([...asked.keys()]).toEqual(expect.arrayContaining(['rpm-ostree status --json', 'systemctl daemon-reload']))
  expect(host.bench.host.reboots).toBe(1)
  expect(host.bench.order?.warnings).toBeUndefined()
  expect(await host.isGuarded()).toBe(false)
})

it('an image is left where nothing can be seen of its kubelet', async () => {
  const host = new Machine()
  await host.reboots()
  host.tools.boot('orderly')
  host.tools.override = (argv) => {
    if (argv.includes('show')) throw new SlipwayError('CommandTimedOut', 'systemctl did not end within 60 s')
    return undefined
  }
  await host.tools.until('Failed')
  const message = expect.stringContaining('systemctl did not end within 60 s')
  expect(host.bench.order).toMatchObject({ rolledBack: true, reason: { code: 'ImageUnhealthy', message } })
  expect(host.tools.booted.digest).toBe(old.digest)
})

it('an image whose guard cannot be cleared away is kept, and that is told', async () => {
  const host = new Machine()
  await host.reboots()
  host.tools.boot('orderly')
  host.tools.override = (argv) => (argv.includes('disable') ? failed : undefined)
  await host.tools.until('Succeeded')
  expect(host.bench.host.reboots).toBe(1)
  expect(host.bench.order?.warnings).toContainEqual(expect.stringContaining('Failed to connect to bus'))
  expect(await host.has('armed')).toBe(false)
})

it('an image is confirmed while the API is away', async () => {
  const host = new Machine()
  await host.reboots()
  host.bench.cluster.goAway()
  host.tools.boot('orderly')
  await host.bench.clock.advance(60_000)
  expect(await host.isGuarded()).toBe(false)
  expect(host.bench.order?.state).toBe('Running')
  host.bench.cluster.comeBack()
  await host.tools.until('Succeeded')
  expect(host.bench.host.reboots).toBe(1)
  expect(host.tools.booted.digest).toBe(next.digest)
})
