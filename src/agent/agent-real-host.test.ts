// The agent as it is, over real processes and files.

import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { scriptOrder } from '../../test/agent/agent-bench.ts'
import { keptTailBytes, leftOut } from '../adapters/host/held-job.ts'
import { startTimeOf } from '../adapters/host/process-table.ts'
import type { Order } from '../api/node-state.ts'
import { sha256 } from './journal/sealed-file.ts'

const program = fileURLToPath(new URL('../../test/agent/real-agent.ts', import.meta.url))
let folder: string
let children: ChildProcess[] = []

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'slipway-agent-'))
})
afterEach(async () => {
  for (const child of children) child.kill('SIGKILL')
  children = []
  await rm(folder, { recursive: true, force: true, maxRetries: 5 })
})

interface Agent {
  readonly states: string[]
  kill(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>
}

async function startAgent(script: string, part: Partial<Order> = {}): Promise<Agent> {
  await writeFile(join(folder, 'script'), script)
  const work = { script: { configMap: 'hello', namespace: 'slipway-system', sha256: sha256(script) } }
  const order = JSON.stringify(scriptOrder({ ...part, work }))
  const child = spawn(process.execPath, [program, join(folder, 'state'), order, join(folder, 'script')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.push(child)
  const states: string[] = []
  child.stdout.setEncoding('utf8').on('data', (text: string) => states.push(...text.trim().split('\n')))
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  return {
    states,
    kill: (signal) => {
      child.kill(signal)
      return exited
    },
  }
}

async function untilTrue(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await delay(10)
}

const lines = async (path: string) =>
  existsSync(path) ? (await readFile(path, 'utf8')).split('\n').filter(Boolean) : []
const succeeded = '{"state":"Succeeded"}'

it('a script runs exactly once, however often the agent is killed in the middle', { timeout: 60_000 }, async () => {
  const counter = join(folder, 'counter')
  const script = `#!/bin/sh\necho "begin $SLIPWAY_NODE $SLIPWAY_ORDER $SLIPWAY_STEP" >>${counter}\nsleep 2\necho end >>${counter}\n`
  const first = await startAgent(script)
  await untilTrue(async () => (await lines(counter)).length === 1)
  await first.kill('SIGKILL')
  const second = await startAgent(script)
  await delay(1_000)
  await second.kill('SIGKILL')
  await untilTrue(async () => (await lines(counter)).length === 2)
  await delay(200)
  const third = await startAgent(script)
  await untilTrue(() => third.states.includes(succeeded))
  expect(await lines(counter)).toEqual(['begin w1 op-1 script', 'end'])
})

it('killed at any moment of the start: never twice, never lost', { timeout: 120_000 }, async () => {
  for (let round = 0; round < 5; round++) {
    const counter = join(folder, `counter-${round}`)
    const script = `echo run >>${counter}\nsleep 0.2\n`
    const id = `round-${round}`
    const agent = await startAgent(script, { id })
    await untilTrue(() => existsSync(join(folder, 'state/orders', id, 'order.json')))
    await delay(round * 5)
    await agent.kill('SIGKILL')
    const next = await startAgent(script, { id })
    await untilTrue(() => next.states.includes(succeeded))
    await next.kill('SIGTERM')
    expect(await lines(counter), `killed ${round * 5} ms after the order was accepted`).toEqual(['run'])
  }
})

it('of two agents with one state folder one works, and the other takes over when it is killed', async () => {
  const counter = join(folder, 'counter')
  const script = `echo begin >>${counter}\nsleep 1\necho end >>${counter}\n`
  const agents = [await startAgent(script), await startAgent(script)]
  const working = () => agents.filter(({ states }) => states.length > 0)
  await untilTrue(() => working().some(({ states }) => states.includes(succeeded)))
  await delay(1_000)
  expect(working()).toHaveLength(1)
  await working()[0]?.kill('SIGKILL')
  await untilTrue(() => agents.every(({ states }) => states.includes(succeeded)))
  expect(await lines(counter)).toEqual(['begin', 'end'])
})

it('a script that takes too long is ended with all it started', { timeout: 30_000 }, async () => {
  const pids = join(folder, 'pids')
  const agent = await startAgent(`sleep 300 & echo $! >>${pids}\nsleep 301 & echo $! >>${pids}\nwait\n`, {
    timeout: '1s',
  })
  await untilTrue(() => agent.states.includes('{"state":"Failed","reason":"StepTimedOut"}'))
  for (const pid of await lines(pids)) expect(await startTimeOf(Number(pid))).toBeUndefined()
})

it('a script that prints 100 MB is captured within bounds', { timeout: 60_000 }, async () => {
  const agent = await startAgent(`head -c 100000000 /dev/zero | tr '\\0' y\necho\necho the end\n`)
  await untilTrue(() => agent.states.includes(succeeded))
  const log = await stat(join(folder, 'state/orders/op-1/logs/step-01-script.1.log'))
  expect(log.size).toBe(8 * 1024 * 1024 + leftOut.length + keptTailBytes)
  const done = await readFile(join(folder, 'state/orders/op-1/step-01-script.done'), 'utf8')
  expect(JSON.parse(done)).toMatchObject({ content: { logTail: expect.stringMatching(/y\nthe end\n$/) } })
})

it('a stop of the agent leaves the script running', { timeout: 30_000 }, async () => {
  const counter = join(folder, 'counter')
  const script = `echo begin >>${counter}\nsleep 0.5\necho end >>${counter}\n`
  const agent = await startAgent(script)
  await untilTrue(async () => (await lines(counter)).length === 1)
  await agent.kill('SIGTERM')
  await untilTrue(() => existsSync(join(folder, 'state/orders/op-1/logs/step-01-script.1.exit')))
  expect(await lines(counter)).toEqual(['begin', 'end'])
})
