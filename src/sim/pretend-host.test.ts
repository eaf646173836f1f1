import { describe, expect, it } from 'vitest'
import { nodes } from '../api/kube.ts'
import type { Job } from '../ports/host.ts'
import { PretendDisk } from './pretend-disk.ts'
import { PretendHost } from './pretend-host.ts'
import { SeededRandom } from './seeded-random.ts'
import { SimCluster } from './sim-cluster.ts'
import { VirtualClock } from './virtual-clock.ts'

const signal = new AbortController().signal
const job = (...argv: string[]): Job => ({
  name: 'job',
  argv,
  env: { SLIPWAY_ORDER: 'o1', SLIPWAY_STEP: 's1' },
  logPath: '/state/log',
  logBytes: 1000,
  resultPath: '/state/result',
})

async function host(disk = new PretendDisk(), clock = new VirtualClock(), exitCode = 0) {
  await disk.makeFolder('/state')
  const made = new PretendHost({
    nodeName: 'w1',
    clock,
    random: new SeededRandom('host'),
    disk,
    role: 'worker',
    version: 'v1.35.4',
    workMs: [1000, 2000],
    exitCodeOf: () => exitCode,
  })
  return { disk, clock, made }
}

describe('pretend host', () => {
  it('runs a job once released, and leaves its result', async () => {
    const { made, clock } = await host(undefined, undefined, 3)
    const held = await made.hold(job('/bin/sh', 'x'), signal)
    await clock.run({ limitMs: 10_000 })
    expect(await made.look(held.identity, '/state/result')).toEqual({ state: 'unrun' })
    await held.release()
    expect(await made.look(held.identity, '/state/result')).toEqual({ state: 'running' })
    await clock.run({ limitMs: 10_000 })
    expect(await made.look(held.identity, '/state/result')).toEqual({ state: 'exited', exitCode: 3 })
    expect(made.executions).toMatchObject([{ order: 'o1', step: 's1', outcome: 'exited' }])
  })

  it('changes versions, and offers the next ones', async () => {
    const { made, clock } = await host()
    const held = await made.hold(job('pretend-upgrade', 'kubelet', 'v1.36.3'), signal)
    await held.release()
    expect((await made.facts(signal)).kubelet).toBe('v1.35.4')
    await clock.run({ limitMs: 10_000 })
    expect(await made.facts(signal)).toMatchObject({
      kubelet: 'v1.36.3',
      versionsOnOffer: ['v1.36.3', 'v1.36.4', 'v1.36.5', 'v1.37.0', 'v1.37.3'],
    })
  })

  it('goes on with a job when another program pretends the machine from the same disk', async () => {
    const { made, disk, clock } = await host()
    const held = await made.hold(job('pretend-upgrade', 'kubelet', 'v1.36.3'), signal)
    await held.release()
    const heir = await host(disk, clock)
    expect(await heir.made.look(held.identity, '/state/result')).toEqual({ state: 'running' })
    const ended = heir.made.ended(held.identity, signal)
    await clock.run({ limitMs: 10_000 })
    await ended
    expect((await heir.made.facts(signal)).kubelet).toBe('v1.36.3')
  })

  it('loses jobs and boot id with the power, and ends a job when told to', async () => {
    const { made, disk, clock } = await host()
    const first = await made.hold(job('/bin/sh', 'x'), signal)
    await first.release()
    const bootId = await made.bootId()
    disk.losePower(new SeededRandom(1))
    await made.losePower()
    await disk.makeFolder('/state')
    expect(await made.bootId()).not.toBe(bootId)
    expect(await made.look(first.identity, '/state/result')).toEqual({ state: 'gone' })
    const second = await made.hold(job('/bin/sh', 'x'), signal)
    await second.release()
    const ending = made.end(second.identity, 10_000, signal)
    await clock.run({ limitMs: 500 })
    await ending
    expect(made.executions.map(({ outcome }) => outcome)).toEqual(['power-lost', 'killed'])
    expect(await made.look(second.identity, '/state/result')).toEqual({ state: 'gone' })
    const heir = await host(disk, clock)
    expect(await heir.made.look(second.identity, '/state/result')).toEqual({ state: 'gone' })
  })

  it('a restarted kubelet reports what is installed; an agent that dies is started again and finds its job', async () => {
    const found: string[] = []
    const cluster = new SimCluster({
      seed: 1,
      nodes: [{ name: 'w1', role: 'worker', version: 'v1.35.4' }],
      workMs: [5000, 5000],
      startAgent: async (process, self) => {
        await self.disk.makeFolder('/state')
        const known = await self.disk.read('/state/pid')
        if (known !== undefined) {
          found.push((await self.look(JSON.parse(known), '/state/result')).state)
          await self.ended(JSON.parse(known), process.signal)
          const restart = await self.hold(job('pretend-restart-kubelet'), process.signal)
          await restart.release()
          await new Promise<void>(() => undefined)
        }
        const held = await self.hold(job('pretend-upgrade', 'kubelet', 'v1.36.3'), process.signal)
        await self.disk.write('/state/pid', JSON.stringify(held.identity), 0o600)
        await held.release()
        process.crash()
      },
    }).start()
    await cluster.run({ limitMs: 4900 })
    expect(cluster.server.peek(nodes, { name: 'w1' })?.status?.nodeInfo?.kubeletVersion).toBe('v1.35.4')
    await cluster.run({ limitMs: 20_000 })
    expect(found).toEqual(['running'])
    expect(cluster.executions().map(({ outcome }) => outcome)).toEqual(['exited', 'exited'])
    expect(cluster.server.peek(nodes, { name: 'w1' })?.status?.nodeInfo?.kubeletVersion).toBe('v1.36.3')
    expect(cluster.failures).toEqual([])
  })
})
