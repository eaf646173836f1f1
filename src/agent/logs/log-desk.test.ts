import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { AgentBench, scriptOrder } from '../../../test/agent/agent-bench.ts'
import { gzipCompression } from '../../adapters/compression/gzip.ts'
import { agentStatusSchema, type NodeState, nodeStates } from '../../api/node-state.ts'
import type { Compression } from '../../ports/compression.ts'
import { logDesk } from './log-desk.ts'

/** At once: a clock that only the test moves does not wait for threads. */
const inStep: Compression = {
  ...gzipCompression,
  pack: (text) => Promise.resolve(gzipSync(text).toString('base64')),
}

class LogBench extends AgentBench {
  launch(): void {
    this.start({ sideTasks: [logDesk(inStep)] })
  }

  async carryOut(id: string, output: string): Promise<void> {
    this.host.behave = () => ({ ms: 10, exitCode: 0, output })
    this.cluster.place(scriptOrder({ id }))
    await this.clock.until(() => this.order?.id === id && this.order.state === 'Succeeded')
  }

  async ask(logs: NodeState['spec']['logs']) {
    const state = this.cluster.node
    if (!state) throw new Error('there is no NodeState')
    const { logs: _, ...spec } = state.spec
    this.cluster.api.put(nodeStates, { ...state, spec: { ...spec, ...(logs && { logs }) } })
    await this.clock.until(() => this.cluster.agent?.logs?.request === logs?.request)
    return this.cluster.agent?.logs
  }

  async text(logs: NonNullable<NodeState['spec']['logs']>): Promise<string> {
    return gzipCompression.unpack((await this.ask(logs))?.gzip ?? '')
  }
}

describe('a log that is asked for', () => {
  it('is given of the newest order, of a named one, and of a step', async () => {
    const bench = new LogBench()
    bench.launch()
    await bench.carryOut('op-1', 'first\n')
    await bench.carryOut('op-2', 'second\n')
    expect(await bench.text({ request: 'a', bytes: 1000 })).toBe('second\n')
    expect(await bench.text({ request: 'b', order: 'op-1', bytes: 1000 })).toBe('first\n')
    expect(await bench.text({ request: 'c', order: 'op-1', step: 'script', bytes: 1000 })).toBe('first\n')
    expect(bench.cluster.agent?.logs?.file).toContain('op-1/logs/step-01-script.1.log')
    expect(agentStatusSchema.safeParse(bench.cluster.agent).error).toBeUndefined()
  })

  it('is cut at its beginning, and fits into the object even if it cannot be compressed', async () => {
    const bench = new LogBench()
    bench.launch()
    const noise = Array.from({ length: 600_000 }, () => String.fromCharCode(32 + Math.floor(bench.random.next() * 95)))
    await bench.carryOut('op-1', `${noise.join('')}the end\n`)
    expect(await bench.text({ request: 'a', bytes: 8 })).toBe('the end\n')
    const whole = await bench.text({ request: 'b', bytes: 500_000 })
    expect(whole).toHaveLength(500_000)
    expect(agentStatusSchema.safeParse(bench.cluster.agent).error).toBeUndefined()
  })

  it.each([
    { name: 'order', wish: { order: 'op-9' }, says: 'no order op-9 is known here' },
    { name: 'step', wish: { step: 'reboot' }, says: 'it has logs of script' },
  ])('that is not there is answered with a reason: $name', async ({ wish, says }) => {
    const bench = new LogBench()
    bench.launch()
    await bench.carryOut('op-1', 'first\n')
    const answer = await bench.ask({ request: 'a', bytes: 1000, ...wish })
    expect(answer).toMatchObject({ bytes: 0, reason: { code: 'LogMissing', message: expect.stringContaining(says) } })
  })

  it('is looked for without touching what the journal is just writing', async () => {
    const bench = new LogBench()
    bench.launch()
    await bench.carryOut('op-1', 'first\n')
    const halfWritten = '/var/lib/slipway/orders/op-1/step-02-validate.inprogress.tmp'
    await bench.disk.write(halfWritten, '{')
    expect(await bench.text({ request: 'a', bytes: 1000 })).toBe('first\n')
    expect(bench.disk.files.has(halfWritten)).toBe(true)
  })

  it('of the newest order is given beside an order that cannot be read, whose own is refused', async () => {
    const bench = new LogBench()
    bench.launch()
    await bench.carryOut('op-1', 'first\n')
    await bench.carryOut('op-2', 'second\n')
    await bench.disk.write('/var/lib/slipway/orders/op-1/order.json', '{')
    expect(await bench.text({ request: 'a', bytes: 1000 })).toBe('second\n')
    const refused = await bench.ask({ request: 'b', order: 'op-1', bytes: 1000 })
    expect(refused?.reason).toMatchObject({ code: 'JournalCorrupt', message: expect.stringContaining('op-1') })
  })

  it('is taken out of the status when nobody asks any more', async () => {
    const bench = new LogBench()
    bench.launch()
    await bench.carryOut('op-1', 'first\n')
    await bench.ask({ request: 'a', bytes: 1000 })
    await bench.ask(undefined)
    expect(bench.cluster.agent?.logs).toBeUndefined()
  })
})
