import { describe, expect, test } from 'vitest'
import { AgentBench } from '../../test/agent/agent-bench.ts'
import { stateDir } from '../../test/agent/profile-bench.ts'
import { MemoryDisk } from '../../test/fakes/memory-disk.ts'
import { x25519Sealing } from '../adapters/crypto/x25519-sealing.ts'
import { sealingContext } from '../core/profile/sealing-context.ts'
import { HostKey } from './host-key.ts'

const version = { secret: 'token', key: 'value', version: 'uid/7' }

describe('the key of a host', () => {
  test('is published, its public half alone, and opens what is sealed to it, in a later life too', async () => {
    const bench = new AgentBench()
    bench.cluster.place(undefined)
    bench.start({ sideTasks: [new HostKey(bench.disk, stateDir, x25519Sealing).task] })
    await bench.clock.until(() => bench.cluster.agent?.publicKey !== undefined)
    const recipient = bench.cluster.agent?.publicKey ?? ''
    const text = x25519Sealing.seal('swordfish', recipient, sealingContext(version))
    const later = new HostKey(bench.disk, stateDir, x25519Sealing)
    expect(await later.open({ ...version, recipient, text })).toBe('swordfish')
    const stored = JSON.parse(bench.disk.files.get(`${stateDir}/host-key`)?.content ?? '')
    expect(JSON.stringify(bench.cluster.node)).not.toContain(stored.content.privateKey)
  })

  test('is made once, however many ask for it at once', async () => {
    const key = new HostKey(new MemoryDisk(), stateDir, x25519Sealing)
    const said: unknown[] = []
    const publisher = { publish: (word: unknown) => said.push(word) }
    const context = { publisher } as never
    await Promise.all([key.task.run(context, AbortSignal.any([])), key.task.run(context, AbortSignal.any([]))])
    expect(said).toHaveLength(2)
    expect(said[0]).toEqual(said[1])
  })

  test('refuses what was sealed as another secret', async () => {
    const key = new HostKey(new MemoryDisk(), stateDir, x25519Sealing)
    const { publicKey } = x25519Sealing.newKeys()
    const text = x25519Sealing.seal('swordfish', publicKey, sealingContext(version))
    await expect(key.open({ ...version, recipient: publicKey, text })).rejects.toMatchObject({
      code: 'SecretUnreadable',
    })
  })
})
