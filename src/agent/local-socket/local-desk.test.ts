import { describe, expect, it } from 'vitest'
import { AgentBench, scriptOrder } from '../../../test/agent/agent-bench.ts'
import { type LocalAnswer, localAnswerSchema, localStateSchema } from '../../api/local-protocol.ts'
import { nodeStates } from '../../api/node-state.ts'
import type { AnswerLine, LocalServer } from '../../ports/local-server.ts'
import { maintenanceDriver } from '../drivers/maintenance/maintenance.ts'
import { scriptDriver } from '../drivers/script.ts'
import { sentinelWatcher } from '../sentinels/sentinel-watcher.ts'
import { localDesk } from './local-desk.ts'

const maintenance = { required: '/var/maintenance-required', inProgress: '/var/maintenance-in-progress' }
type Files = typeof maintenance | 'off'
const otherFiles: Files = { required: '/var/other-required', inProgress: '/var/other-in-progress' }
const maintenanceOrder = scriptOrder({ id: 'op-m', kind: 'Maintenance', work: { maintenance } })

/** A server nobody has to connect to. */
class DirectServer implements LocalServer {
  #answer: AnswerLine | undefined

  serve(_path: string, answer: AnswerLine, signal: AbortSignal): Promise<void> {
    this.#answer = answer
    return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
  }

  /** What was answered so far. */
  ask(request: unknown): Call {
    const answers: LocalAnswer[] = []
    const hangUp = new AbortController()
    const line = typeof request === 'string' ? request : JSON.stringify(request)
    const reply = (text: string) => {
      answers.push(localAnswerSchema.parse(JSON.parse(text)))
      return Promise.resolve()
    }
    const over = this.#answer?.(line, reply, hangUp.signal)
    return { answers, over: Promise.allSettled([over]), hangUp: () => hangUp.abort(new Error('hung up')) }
  }
}

interface Call {
  readonly answers: LocalAnswer[]
  readonly over: Promise<unknown>
  hangUp(): void
}

async function textsOf(call: Call): Promise<readonly string[]> {
  call.hangUp()
  await call.over
  return call.answers.map((answer) => (answer.ok ? (answer.result as { text: string }).text : ''))
}

class SocketBench extends AgentBench {
  readonly server = new DirectServer()

  async launch(files: Files = maintenance, order = scriptOrder()): Promise<void> {
    this.place(files, order)
    this.startWithSocket()
    await this.clock.advance(2_000)
  }

  startWithSocket(): void {
    this.host.behave = () => ({ ms: 10, exitCode: 0, output: 'hello\n' })
    this.start({
      drivers: [scriptDriver, maintenanceDriver(this)],
      sideTasks: [localDesk(this.server, '/run/slipway/agent.sock'), sentinelWatcher],
    })
  }

  /** `files`: those that the policy names. */
  place(files: Files, order = scriptOrder()): void {
    this.cluster.place(order)
    const state = this.cluster.node
    const sentinels = files !== 'off' ? { sentinels: { maintenance: files } } : {}
    if (state) this.cluster.api.put(nodeStates, { ...state, spec: { ...state.spec, ...sentinels } })
  }

  async ask(request: unknown): Promise<LocalAnswer | undefined> {
    const { answers, over } = this.server.ask(request)
    await over
    return answers.at(-1)
  }

  async there(): Promise<readonly string[]> {
    return (await this.host.files.names('/var')).filter((name) => name.startsWith('maintenance-'))
  }
}

/** A script has asked, and the order of its turn waits for it. */
async function letIn(): Promise<SocketBench> {
  const bench = new SocketBench()
  await bench.launch()
  const call = bench.server.ask({ ask: 'request', wait: true })
  await bench.clock.advance(2_000)
  bench.place(maintenance, maintenanceOrder)
  await bench.clock.advance(2_000)
  expect(call.answers.at(-1)).toMatchObject(result('InProgress'))
  return bench
}

const result = (state: string) => ({ ok: true, result: { state } })

describe('the agent’s socket', () => {
  it('tells the state and the steps', async () => {
    const bench = new SocketBench()
    await bench.launch()
    const answer = await bench.ask({ ask: 'state' })
    const state = localStateSchema.parse(answer?.ok === true ? answer.result : undefined)
    expect(state).toMatchObject({ node: 'w1', status: { version: '0.1.0', order: { id: 'op-1', state: 'Succeeded' } } })
    expect(await bench.ask({ ask: 'steps' })).toMatchObject({
      ok: true,
      result: { order: { steps: [{ name: 'script' }] } },
    })
  })

  it.each([
    { line: 'nonsense', code: 'Usage' },
    { line: '{"ask":"reboot"}', code: 'Usage' },
    { line: '{"ask":"state","extra":1}', code: 'Usage' },
    { line: '{"ask":"logs","step":"other"}', code: 'NotFound' },
    { line: '{"ask":"finish"}', code: 'Refused' },
  ])('answers $line with an error', async ({ line, code }) => {
    const bench = new SocketBench()
    await bench.launch()
    expect(await bench.ask(line)).toMatchObject({ ok: false, error: { code, nextStep: expect.any(String) } })
  })

  it('refuses maintenance where it is not configured', async () => {
    const bench = new SocketBench()
    await bench.launch('off')
    expect(await bench.ask({ ask: 'request' })).toMatchObject({ ok: false, error: { code: 'Refused' } })
    expect(await bench.there()).toEqual([])
  })

  it('gives a log, and what is written later to who follows it', async () => {
    const bench = new SocketBench()
    await bench.launch()
    expect(await bench.ask({ ask: 'logs' })).toMatchObject({ ok: true, result: { order: 'op-1', text: 'hello\n' } })
    const call = bench.server.ask({ ask: 'logs', follow: true })
    await bench.clock.advance(10)
    const log = '/var/lib/slipway/orders/op-1/logs/step-01-script.1.log'
    bench.disk.putResult(log, 'hello\nagain\n')
    await bench.clock.advance(1_000)
    bench.disk.putResult(log.replace('.1.log', '.2.log'), 'third\n')
    await bench.clock.advance(1_000)
    expect(await textsOf(call)).toEqual(['hello\n', 'again\n', 'third\n'])
  })

  it('goes on at the end of a log that was cut because it is too long', async () => {
    const bench = new SocketBench()
    await bench.launch()
    const call = bench.server.ask({ ask: 'logs', follow: true, bytes: 6 })
    await bench.clock.advance(10)
    for (const text of ['hello\nagain\n', 'left out, third\n', 'left out, third\nfourth\n', 'left, fifth\n']) {
      bench.disk.putResult('/var/lib/slipway/orders/op-1/logs/step-01-script.1.log', text)
      await bench.clock.advance(1_000)
    }
    expect(await textsOf(call)).toEqual(['hello\n', 'again\n', 'ird\n', 'fourth\n', 'fifth\n'])
  })
})

describe('maintenance over the socket', () => {
  it('is asked for once, let in, and finished', async () => {
    const bench = new SocketBench()
    await bench.launch()
    const call = bench.server.ask({ ask: 'request', wait: true })
    await bench.clock.advance(2_000)
    expect(call.answers).toMatchObject([{ ...result('Requested'), more: true }])
    expect(bench.cluster.agent?.sentinels).toHaveProperty('maintenanceRequired')
    expect(await bench.ask({ ask: 'request' })).toMatchObject({ ok: false, error: { code: 'Refused' } })
    bench.place(maintenance, maintenanceOrder)
    await bench.clock.advance(2_000)
    expect(call.answers).toMatchObject([result('Requested'), result('InProgress')])
    expect(await bench.ask({ ask: 'finish' })).toMatchObject(result('Finished'))
    await bench.clock.advance(1_000)
    expect(bench.order).toMatchObject({ id: 'op-m', state: 'Succeeded' })
    expect(await bench.there()).toEqual([])
  })

  it('lets two scripts in one after the other', async () => {
    const bench = new SocketBench()
    await bench.launch()
    const calls = [1, 2].map(() => bench.server.ask({ ask: 'request', wait: true }))
    await bench.clock.advance(2_000)
    expect(calls.map(({ answers }) => answers.length)).toEqual([1, 0])
    bench.place(maintenance, maintenanceOrder)
    await bench.clock.advance(2_000)
    expect(calls.map(({ answers }) => answers.length)).toEqual([2, 0])
    await bench.ask({ ask: 'finish' })
    await bench.clock.advance(2_000)
    expect(calls.map(({ answers }) => answers.length)).toEqual([2, 1])
  })

  it('that failed is recorded with its reason, and keeps the request', async () => {
    const bench = new SocketBench()
    await bench.launch()
    await bench.ask({ ask: 'request' })
    expect(await bench.ask({ ask: 'finish', failed: 'disk sdb is dead' })).toMatchObject(result('Failed'))
    await bench.clock.advance(10)
    expect(bench.cluster.agent?.sentinels?.failure).toMatchObject({ message: 'disk sdb is dead' })
    expect(await bench.there()).toContain('maintenance-required')
  })

  it.each([
    { policy: 'is turned off', files: 'off' },
    { policy: 'names other files', files: otherFiles },
  ] as const)('is finished where the policy $policy meanwhile', async ({ files }) => {
    const bench = await letIn()
    bench.place(files, maintenanceOrder)
    await bench.clock.advance(2_000)
    expect(await bench.ask({ ask: 'finish' })).toMatchObject(result('Finished'))
    await bench.clock.until(bench.hasEnded('Succeeded'))
    expect(await bench.there()).toEqual([])
    expect(await bench.ask({ ask: 'finish' })).toMatchObject({ ok: false, error: { code: 'Refused' } })
  })

  it('is finished also where the folder of another order is damaged', async () => {
    const bench = await letIn()
    await bench.disk.makeFolder('/var/lib/slipway/orders/op-a')
    bench.disk.putResult('/var/lib/slipway/orders/op-a/order.json', '{')
    expect(await bench.ask({ ask: 'finish' })).toMatchObject(result('Finished'))
  })

  it('is finished after a restart of the agent with the API away', async () => {
    const bench = await letIn()
    bench.kill()
    bench.cluster.goAway()
    bench.disk.budget = Number.POSITIVE_INFINITY
    bench.startWithSocket()
    await bench.clock.advance(2_000)
    expect(await bench.ask({ ask: 'finish' })).toMatchObject(result('Finished'))
    bench.cluster.comeBack()
    await bench.clock.until(bench.hasEnded('Succeeded'))
  })

  it('can be called off before its turn, and who waited is told', async () => {
    const bench = new SocketBench()
    await bench.launch()
    const call = bench.server.ask({ ask: 'request', wait: true })
    await bench.clock.advance(2_000)
    expect(await bench.ask({ ask: 'finish' })).toMatchObject(result('Cancelled'))
    await bench.clock.advance(10)
    expect(call.answers.at(-1)).toMatchObject({ ok: false, error: { code: 'Refused' } })
  })
})
