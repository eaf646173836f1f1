// A driver on a booted machine, driven by the real agent: each property on a machine of its own. A case is a file in cases/.
// SLIPWAY_POWER_LOSSES=30 for more of them.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { folderContent, folderNotes } from '../../src/agent/journal/notes.ts'
import type { AgentOrder, Order } from '../../src/api/node-state.ts'
import { SeededRandom } from '../../src/sim/seeded-random.ts'
import { silentLog } from '../../src/sim/silent-log.ts'
import { type Bed, openBed } from '../bed/bed.ts'
import type { Machine } from '../bed/machine.ts'
import { type ConformanceCase, loadCase } from './conformance-case.ts'
import { keepResult, type Property } from './conformance-results.ts'
import { type Drive, type DriveOptions, driveOrder } from './drive-order.ts'
import { hostOfMachine } from './host-of-machine.ts'

const never = new AbortController().signal

export async function testDriver(file: `${string}.ts`): Promise<void> {
  const given = await loadCase(file)
  describe(given.name, () => testCase(file, given))
}

function testCase(file: string, given: ConformanceCase): void {
  let bed: Bed
  let first: Machine
  const { driver } = given
  const seen: Partial<Record<Property, string>> = {}
  const survived: number[] = []
  let tool: string | undefined
  let clean: Drive | undefined
  let orders = 0

  beforeAll(async () => {
    bed = await openBed()
    // Here, not in a test: what it is made of may have to be built first.
    first = await given.setUp(bed)
  })
  afterAll(async () => {
    if (!given.isSample) await keepResult({ name: given.name, driver: driver.name, ...(tool && { tool }), seen })
    await bed.close()
    expect(bed.leftovers()).toEqual([])
  })

  async function orderFor(machine: Machine, part: Partial<Order> = {}): Promise<Order> {
    return {
      id: `conformance-${++orders}`,
      update: 'conformance',
      nodeUID: 'node-uid',
      epoch: 1,
      role: 'Worker',
      offline: 'Refused',
      desired: 'Run',
      timeout: '30m',
      ...(await given.order(machine)),
      ...part,
    }
  }

  async function drive(
    machine: Machine,
    options: Partial<Omit<DriveOptions, 'machine' | 'caseFile'>> = {},
  ): Promise<Drive> {
    const order = options.order ?? (await orderFor(machine))
    return driveOrder({ ...options, machine, caseFile: file, order })
  }

  async function expectDone(machine: Machine, { report }: Drive): Promise<void> {
    expect(report.state, JSON.stringify(report)).toBe('Succeeded')
    expect(await given.isDone(machine)).toBe(true)
    await given.check?.(machine, report)
  }

  it('is not done before and done after, and twice is once', async () => {
    const machine = first
    expect(await given.isDone(machine)).toBe(false)
    clean = await drive(machine)
    await expectDone(machine, clean)
    expect(clean.report.steps.some((step) => step.attempts > 0)).toBe(true)
    seen.verified = 'yes'

    const second = await drive(machine)
    await expectDone(machine, second)
    if (given.runsAgain === undefined) {
      expect(second.report.steps.filter((step) => step.attempts > 0).map((step) => step.name)).toEqual([])
    }
    if (given.tool) {
      const [line = ''] = (await machine.run(given.tool.version)).trim().split('\n')
      tool = `\`${given.tool.name}\`: ${line}`
    }
    seen.idempotent = given.runsAgain === undefined ? 'yes, the second run starts nothing' : `no: ${given.runsAgain}`
    await machine.destroy()
  })

  it('ends well although the agent is killed at each journal write and in each step', async () => {
    const machine = await given.setUp(bed)
    const driven = await drive(machine, { dieMidwayMs: middles(clean) })
    await expectDone(machine, driven)
    expect(driven.deaths).toEqual(expect.arrayContaining([...pointsOf(driven.report)]))
    seen.killed = 'yes'
    await machine.destroy()
  })

  const losses = Number(process.env.SLIPWAY_POWER_LOSSES ?? 3)
  const several = Array.from({ length: losses }, (_, index) => index + 1)
  const seeds = process.env.SLIPWAY_POWER_LOSSES === undefined ? (given.seeds ?? several) : several
  it.each(seeds)('survives a power loss, seed %i', async (seed) => {
    const machine = await given.setUp(bed)
    // Each in its own part of the order, so that they never all come late.
    const share = (seeds.indexOf(seed) + new SeededRandom(seed).next()) / seeds.length
    const driven = await drive(machine, { powerLossAfterMs: share * (clean?.tookMs ?? 0) })
    await expectDone(machine, driven)
    expect(driven.isPowerLost).toBe(true)
    survived.push(seed)
    if (survived.length === seeds.length)
      seen.powerLoss = `yes, ${seeds.length === 1 ? 'seed' : 'seeds'} ${survived.join(', ')}`
    await machine.destroy()
  })

  // Declared rather than tried for all: it takes a machine, and only such a step can be gone after it was done.
  const keptLate = given.isKeptAtShutdown === true ? ['just before its end is on record'] : []
  it.each(keptLate)('survives a power loss %s', async () => {
    const machine = await given.setUp(bed)
    const driven = await drive(machine, { powerLossAfterMs: Number.POSITIVE_INFINITY })
    expect(driven.isPowerLost).toBe(true)
    await expectDone(machine, driven)
    expect(driven.report.warnings).toEqual([expect.stringContaining('a boot took it back')])
    await machine.destroy()
  })

  it('is taken back to what it was, or says why not', async () => {
    const { undo } = driver
    if (!undo.possible) {
      expect(undo.because).not.toBe('')
      seen.undo = `no: ${undo.because}`
      return
    }
    const machine = await given.setUp(bed)
    const order = await orderFor(machine, { rollback: 'All' })
    const before = await picture(given, machine, order)
    const { report } = await drive(machine, { order, failAtEnd: true })
    expect(await picture(given, machine, order)).toEqual(before)
    if (given.staysDone === undefined) {
      expect(report, JSON.stringify(report)).toMatchObject({ state: 'Failed', rolledBack: true })
      seen.undo = 'yes'
    } else {
      // Not PointOfNoReturn: what others did before it can still be taken back.
      expect(report, JSON.stringify(report)).toMatchObject({ state: 'Failed', reason: { code: 'StepFailed' } })
      expect(await given.isDone(machine)).toBe(true)
      await given.check?.(machine, report)
      seen.undo = `nothing to take back: ${given.staysDone}`
    }
    await machine.destroy()
  })
}

/** How long after its start each step is in its middle, as long as the clean run took for it. */
function middles(clean: Drive | undefined): Readonly<Record<string, number>> {
  const steps = clean?.report.steps ?? []
  return Object.fromEntries(
    steps.flatMap(({ name, startedAt, finishedAt }) =>
      startedAt === undefined || finishedAt === undefined
        ? []
        : [[name, 0.3 * (Date.parse(finishedAt) - Date.parse(startedAt))]],
    ),
  )
}

/** Where an agent that carries such an order out can be killed: at the files of its journal, and inside each step it started. */
function pointsOf({ steps }: AgentOrder): readonly string[] {
  const started = steps.flatMap(({ name, attempts }, index) => {
    const stem = `step-${String(index + 1).padStart(2, '0')}-${name}`
    return attempts === 0 ? [] : [`${stem}.inprogress`, `${stem}.inprogress midway`, `${stem}.done`]
  })
  return ['order.json', ...started, 'completed']
}

/** Of all that the driver's work could change. */
async function picture(given: ConformanceCase, machine: Machine, order: Order): Promise<unknown> {
  const host = hostOfMachine(machine)
  const folder = '/var/lib/slipway-picture'
  const content = folderContent(host.disk, `${folder}/content`)
  for (const text of given.contents ?? []) await content.keep(text)
  const context = {
    host,
    order,
    nodeName: 'w1',
    log: silentLog,
    notes: folderNotes(host.disk, `${folder}/notes`),
    content,
    stagingFolder: `${folder}/staging`,
    begunInBoot: undefined,
    warn: () => Promise.resolve(),
  }
  const found = await given.driver.inspect(context, never)
  await host.disk.removeFolder(folder)
  return JSON.parse(JSON.stringify(found))
}
