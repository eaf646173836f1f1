// Drives one order on a machine to its end, through as many lives of the agent as it takes.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { AgentOrder, Order } from '../../src/api/node-state.ts'
import type { Machine } from '../bed/machine.ts'
import { type LifeEvent, lifeEventSchema } from './life-plan.ts'

export interface DriveOptions {
  readonly caseFile: string
  readonly machine: Machine
  readonly order: Order
  readonly failAtEnd?: boolean
  /** The agent dies at every file of its journal, and so long after the start of each step. */
  readonly dieMidwayMs?: number
  /** The machine loses its power so long after the first life began. */
  readonly powerLossAfterMs?: number
}

export interface Drive {
  readonly report: AgentOrder
  readonly deaths: readonly string[]
  readonly tookMs: number
}

const program = fileURLToPath(new URL('agent-life.ts', import.meta.url))
const compileCache = fileURLToPath(new URL('../../.cache/compiled', import.meta.url))
const mostLives = 200
const lookMs = 50

export async function driveOrder(options: DriveOptions): Promise<Drive> {
  const { machine, powerLossAfterMs } = options
  const deaths: string[] = []
  const startMs = performance.now()
  let isPowerLost = powerLossAfterMs === undefined
  for (let lives = 0; lives < mostLives; lives++) {
    if (!machine.isOn) await machine.boot()
    await machine.waitUntilUp()
    const life = startLife(options, deaths)
    const limit = isPowerLost ? undefined : startMs + (powerLossAfterMs ?? 0)
    const event = await eventOf(life, machine, limit)
    if (event === 'powerLoss') {
      isPowerLost = true
      await machine.powerLoss()
    }
    await life.stop()
    if (event === undefined) throw new Error(`an agent ended without a word, after deaths at ${deaths.join(', ')}`)
    if (typeof event !== 'object') continue
    if ('ended' in event) return { report: event.ended, deaths, tookMs: performance.now() - startMs }
    deaths.push(event.died)
  }
  throw new Error(`the order did not end within ${mostLives} lives; died at ${deaths.join(', ')}`)
}

interface Life {
  readonly initPid: number
  readonly event: Promise<LifeEvent | undefined>
  stop(): Promise<void>
}

function startLife(
  { caseFile, machine, order, failAtEnd, dieMidwayMs }: DriveOptions,
  deaths: readonly string[],
): Life {
  const initPid = machine.initPid() ?? 0
  const plan = {
    caseFile,
    initPid,
    order,
    failAtEnd: failAtEnd ?? false,
    midwayMs: dieMidwayMs ?? 0,
    ...(dieMidwayMs !== undefined && { deaths }),
  }
  const child = spawn(process.execPath, [program, JSON.stringify(plan)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    // A life is short: without it most of it goes into reading the sources.
    env: { ...process.env, NODE_COMPILE_CACHE: compileCache },
  })
  const exited = once(child, 'exit')
  return {
    initPid,
    event: firstEvent(child),
    stop: async () => {
      child.kill('SIGKILL')
      await exited
    },
  }
}

async function firstEvent(child: ChildProcess): Promise<LifeEvent | undefined> {
  if (!child.stdout) return undefined
  for await (const line of createInterface(child.stdout)) return lifeEventSchema.parse(JSON.parse(line))
  return undefined
}

/** Until it says something, ends without a word, or its machine went down under it. */
async function eventOf(
  life: Life,
  machine: Machine,
  powerLossAtMs: number | undefined,
): Promise<LifeEvent | 'powerLoss' | 'wentDown' | undefined> {
  for (;;) {
    const said = await Promise.race([life.event.then((event) => ({ event })), delay(lookMs)])
    if (said) return said.event
    if (powerLossAtMs !== undefined && performance.now() >= powerLossAtMs) return 'powerLoss'
    // The agent lives on that machine: it goes down with it.
    if (machine.initPid() !== life.initPid) return 'wentDown'
  }
}
