// What was staged may wait for hours, and the host is not ours alone meanwhile.

import { describe, expect, it } from 'vitest'
import { AgentBench, scriptOrder } from '../../../../test/agent/agent-bench.ts'
import {
  type PretendImage,
  PretendImageTools,
  pretendImage,
  repository,
} from '../../../../test/agent/pretend-image-tools.ts'
import { keyPairSignatures } from '../../../adapters/oci/key-pair-signatures.ts'
import type { Order } from '../../../api/node-state.ts'
import { isGuardSet } from './boot-guard.ts'
import { osImageDriver } from './osimage-driver.ts'

const [old, other, next] = [pretendImage('3.0'), pretendImage('3.1'), pretendImage('4.0')]
const checksumOf = ({ digest }: PretendImage) => digest.slice('sha256:'.length)

class Machine {
  readonly bench: AgentBench
  readonly tools: PretendImageTools
  readonly #tag: string

  constructor(tag: 'stable' | 'old', seed = 1) {
    this.#tag = tag
    this.bench = new AgentBench(seed)
    this.bench.drivers = [osImageDriver({ clock: this.bench.clock, signatures: keyPairSignatures })]
    this.tools = new PretendImageTools(this.bench, 'rpm-ostree', old)
    this.tools.publish('stable', next)
    this.tools.publish('old', old)
  }

  place(desired: Order['desired']): void {
    const os = { image: `${repository}:${this.#tag}` }
    this.bench.cluster.place(scriptOrder({ work: { os }, rollback: 'Image', desired }))
  }

  async stages(): Promise<void> {
    this.place('Stage')
    this.bench.start()
    await this.bench.clock.until(this.bench.hasEnded('Staged'))
  }

  /** Somebody else boots the host into it, while the order waits. */
  isBootedInto({ digest }: PretendImage): void {
    this.tools.staged = { digest, serial: 0 }
    this.tools.boot('orderly')
  }

  async asksFirst(): Promise<void> {
    await this.bench.clock.until(() => this.bench.host.reboots === 1)
  }

  /** Where the guard on the host would not go back from; undefined where none is armed. */
  async home(): Promise<string | undefined> {
    const { host } = this.bench
    if (!(await isGuardSet({ host, order: scriptOrder() }))) return undefined
    const service = await host.files.read('/etc/systemd/system/slipway-boot-guard.service')
    return / watch rpm-ostree ([0-9a-f]+)\.0 /.exec(service ?? '')?.[1]
  }
}

describe('a host that somebody boots into another image while its order waits', () => {
  it('has a guard that lets that image be, and knows the new one', async () => {
    const host = new Machine('stable')
    await host.stages()
    host.isBootedInto(other)
    host.place('Run')
    await host.asksFirst()
    expect(await host.home()).toBe(checksumOf(other))
    // It comes back with what was booted when the work began: that is no image on trial.
    host.tools.boot('power loss')
    expect(host.tools.booted.digest).toBe(other.digest)
    await host.tools.until('Succeeded')
    expect(host.tools.booted.digest).toBe(next.digest)
    expect(await host.home()).toBeUndefined()
  })

  it('is taken back to that image', async () => {
    const host = new Machine('stable')
    await host.stages()
    host.isBootedInto(other)
    host.place('Run')
    await host.asksFirst()
    host.tools.kubelet = 'failed'
    await host.tools.until('Failed')
    expect(host.bench.order).toMatchObject({ rolledBack: true, reason: { code: 'ImageUnhealthy' } })
    expect(host.tools.booted.digest).toBe(other.digest)
  })

  it('fetches the wanted image that it had, and boots it with a guard and a confirmation', async () => {
    const host = new Machine('old')
    await host.stages()
    host.isBootedInto(other)
    host.place('Run')
    await host.asksFirst()
    expect(host.tools.asked.filter((line) => line.includes('--download-only'))).toHaveLength(1)
    expect(await host.home()).toBe(checksumOf(other))
    host.tools.kubelet = 'failed'
    await host.tools.until('Failed')
    expect(host.bench.order).toMatchObject({ rolledBack: true, reason: { code: 'ImageUnhealthy' } })
    expect(host.tools.booted.digest).toBe(other.digest)
  })

  it('into the wanted one is left alone', async () => {
    const host = new Machine('stable')
    await host.stages()
    host.isBootedInto(next)
    host.place('Run')
    await host.tools.until('Succeeded')
    expect(host.bench.host.reboots).toBe(0)
    expect(await host.home()).toBeUndefined()
  })

  it('that asks more of its images has the wanted one checked so before it is drained for it', async () => {
    const host = new Machine('stable')
    await host.stages()
    host.tools.origin = { prefix: 'ostree-image-signed:docker://', signature: 'containerPolicy' }
    host.isBootedInto(other)
    host.place('Run')
    await host.asksFirst()
    const reference = `ostree-image-signed:docker://${repository}@${next.digest}`
    const told = host.tools.asked.filter((line) => line.includes(reference))
    expect(told).toEqual([expect.stringContaining('--download-only'), expect.stringContaining('--bypass-driver')])
  })

  it.each(['stable', 'old'] as const)('goes on so where the agent is killed at any write (%s)', async (tag) => {
    const wanted = tag === 'stable' ? next : old
    for (let cut = 0; cut <= 60; cut++) {
      const host = new Machine(tag, cut)
      await host.stages()
      host.isBootedInto(other)
      host.bench.kill()
      host.place('Run')
      host.bench.disk.budget = Number.POSITIVE_INFINITY
      const dead = await host.bench.startAndDieAfter(cut, () => host.bench.host.reboots === 1)
      if (dead) {
        host.tools.boot('power loss')
        await host.asksFirst()
      }
      expect(await host.home(), `killed after ${cut} operations`).toBe(checksumOf(other))
      host.tools.boot('orderly')
      await host.tools.until('Succeeded')
      expect(host.tools.booted.digest).toBe(wanted.digest)
    }
  })
})

it('a host that is booted into another image after the first step goes by what was booted before', async () => {
  const host = new Machine('stable')
  await host.stages()
  host.place('Run')
  await host.bench.clock.until(() => host.bench.host.executions.some(({ step }) => step === 'stage-image'))
  host.isBootedInto(other)
  await host.asksFirst()
  expect(await host.home()).toBe(checksumOf(old))
})
