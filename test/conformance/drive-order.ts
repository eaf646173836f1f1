// Drives one order on a machine to its end, through as many lives of the agent as it takes.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { folderName, orderFile } from '../../src/agent/journal/order-folder.ts'
import type { AgentOrder, Order } from '../../src/api/node-state.ts'
import type { Machine } from '../bed/machine.ts'
import { hostOfInit } from './host-of-machine.ts'
import { type LifeEvent, lifeEventSchema, stateDir } from './life-plan.ts'

export interface DriveOptions {
  readonly caseFile: string
  readonly machine: Machine
  readonly order: Order
  readonly failAtEnd?: boolean
  /** The agent dies at every file of its journal and once in each step: so long after its start, by its name. */
  readonly dieMidwayMs?: Readonly<Record<string, number>>
  /** The machine loses its power so long after the order was on record; at the latest just before its end is. */
  readonly powerLossAfterMs?: number
}

export interface Drive {
  readonly report: AgentOrder
  readonly deaths: readonly string[]
  readonly isPowerLost: boolean
  /** Since it was on record: before that a program starts, which takes longer the first time. */
  readonly tookMs: number
}

const program = fileURLToPath(new URL('agent-life.ts', import.meta.url))
const mostLives = 200
const lookMs = 20

export async function driveOrder(options: DriveOptions): Promise<Drive> {
  const { machine, powerLossAfterMs } = options
  const deaths: string[] = []
  const time = new OrderTime(options.order)
  let isPowerLost = false
  for (let lives = 0; lives < mostLives; lives++) {
    if (!machine.isOn) await machine.boot()
    await machine.waitUntilUp()
    const limitMs = isPowerLost ? undefined : powerLossAfterMs
    const life = startLife(options, deaths, limitMs !== undefined)
    const event = await eventOf(life, machine, time, limitMs)
    if (event === 'powerLoss') {
      isPowerLost = true
      await machine.powerLoss()
    }
    await life.stop()
    if (event === undefined) throw new Error(`an agent ended without a word, after deaths at ${deaths.join(', ')}`)
    if (typeof event !== 'object') continue
    if ('ended' in event) return { report: event.ended, deaths, isPowerLost, tookMs: time.passedMs() }
    deaths.push(event.died)
  }
  throw new Error(`the order did not end within ${mostLives} lives; died at ${deaths.join(', ')}`)
}

/** Runs from when the order is seen in the journal of its machine, through all boots. */
class OrderTime {
  readonly #path: string
  #begunMs: number | undefined

  constructor({ id }: Order) {
    this.#path = `${stateDir}/orders/${folderName(id)}/${orderFile}`
  }

  async look(initPid: number): Promise<void> {
    if (this.#begunMs !== undefined) return
    if ((await hostOfInit(initPid).disk.bytes(this.#path)) !== undefined) this.#begunMs = performance.now()
  }

  passedMs(): number {
    return this.#begunMs === undefined ? 0 : performance.now() - this.#begunMs
  }
}

interface Life {
  readonly initPid: number
  readonly event: Promise<LifeEvent | undefined>
  stop(): Promise<void>
}

function startLife(
  { caseFile, machine, order, failAtEnd, dieMidwayMs }: DriveOptions,
  deaths: readonly string[],
  holdsEnd: boolean,
): Life {
  const initPid = machine.initPid() ?? 0
  const plan = {
    caseFile,
    initPid,
    order,
    failAtEnd: failAtEnd ?? false,
    midwayMs: dieMidwayMs ?? {},
    holdsEnd,
    ...(dieMidwayMs !== undefined && { deaths }),
  }
  const child = spawn(process.execPath, [program, JSON.stringify(plan)], {
    stdio: ['pipe', 'pipe', 'inherit'],
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

/** Until it says something, ends without a word, its time is over, or its machine went down under it. */
async function eventOf(
  life: Life,
  machine: Machine,
  time: OrderTime,
  limitMs: number | undefined,
): Promise<Exclude<LifeEvent, { ending: string }> | 'powerLoss' | 'wentDown' | undefined> {
  for (;;) {
    const said = await Promise.race([life.event.then((event) => ({ event })), delay(lookMs)])
    if (said) return said.event && 'ending' in said.event ? 'powerLoss' : said.event
    await time.look(life.initPid)
    if (limitMs !== undefined && time.passedMs() > limitMs) return 'powerLoss'
    // The agent lives on that machine: it goes down with it.
    if (machine.initPid() !== life.initPid) return 'wentDown'
  }
}
