// One life of a real agent over a booted machine, with a pretend API that holds one order. It may be told to die at certain
// journal writes. Usage: node agent-life.ts PLAN_JSON. Each line it prints is a LifeEvent.

import { writeSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import { basename } from 'node:path'
import { SystemClock } from '../../src/adapters/clock/system-clock.ts'
import { SystemRandom } from '../../src/adapters/random/system-random.ts'
import { runAgent } from '../../src/agent/agent.ts'
import type { Driver } from '../../src/agent/drivers/driver.ts'
import { isEndFile } from '../../src/agent/journal/order-folder.ts'
import { configMaps } from '../../src/api/kube.ts'
import { SlipwayError } from '../../src/api/slipway-error.ts'
import type { Disk } from '../../src/ports/disk.ts'
import type { Host } from '../../src/ports/host.ts'
import { OneNodeCluster } from '../agent/one-node-cluster.ts'
import { RecordingLog } from '../fakes/recording-log.ts'
import { contentOf, loadCase } from './conformance-case.ts'
import { type LifeEvent, type LifePlan, lifePlanSchema, stateDir } from './life-plan.ts'

/** What makes an order fail after all of its work was done, so that it is taken back. */
const failing: Driver = {
  name: 'failing',
  concerns: () => true,
  inspect: () => Promise.resolve({}),
  steps: () => [
    {
      name: 'fail',
      disruptive: false,
      attempts: 1,
      act: () => Promise.reject(new SlipwayError('StepFailed', 'it fails on purpose')),
    },
  ],
  undo: { possible: false, because: 'it did nothing', endsUndo: 'Never' },
}

const plan = lifePlanSchema.parse(JSON.parse(process.argv[2] ?? ''))
const { host, drivers, contents } = await parts(plan)
// Now: whoever is killed has no end at which Node would do it.
flushCompileCache()

// Whoever drives it holds its input open: it does not outlive them.
process.stdin.on('end', () => process.exit(1)).resume()

const cluster = new OneNodeCluster()
for (const text of contents) {
  const { configMap, namespace } = contentOf(text)
  cluster.api.put(configMaps, { metadata: { name: configMap, namespace }, data: { script: text } })
}
cluster.place(plan.order)
setInterval(() => {
  const { order } = cluster.agent ?? {}
  if (order?.finishedAt !== undefined || order?.state === 'RequiresAttention') tell({ ended: order })
}, 20)

await runAgent(
  {
    api: cluster.api,
    host,
    clock: new SystemClock(),
    random: new SystemRandom(),
    log: new RecordingLog(),
    nodeName: 'w1',
    stateDir,
    version: '0.1.0',
    drivers,
  },
  new AbortController().signal,
)

async function parts({ caseFile, initPid, failAtEnd, deaths, midwayMs, holdsEnd }: LifePlan) {
  const { hostOfInit } = await import('./host-of-machine.ts')
  const { driver, beside = [], contents: given = [] } = await loadCase(caseFile)
  const real = hostOfInit(initPid)
  const rename = deaths
    ? dyingRename(real.disk, new Set(deaths), midwayMs)
    : holdsEnd
      ? endlessRename(real.disk)
      : undefined
  const host = rename ? withRename(real, rename) : real
  return { host, drivers: [driver, ...beside, ...(failAtEnd ? [failing] : [])], contents: given }
}

/** Every other method by its object: the host keeps its secrets in private fields. */
function withRename(real: Host, rename: Disk['rename']): Host {
  const { disk } = real
  return {
    disk: {
      rename,
      read: (path) => disk.read(path),
      readTail: (path, bytes) => disk.readTail(path, bytes),
      readFrom: (path, offset, bytes) => disk.readFrom(path, offset, bytes),
      bytes: (path) => disk.bytes(path),
      write: (path, content, mode) => disk.write(path, content, mode),
      sync: (path) => disk.sync(path),
      remove: (path) => disk.remove(path),
      makeFolder: (path) => disk.makeFolder(path),
      syncFolder: (path) => disk.syncFolder(path),
      names: (path) => disk.names(path),
      removeFolder: (path) => disk.removeFolder(path),
    },
    files: real.files,
    bootId: () => real.bootId(),
    uptimeMs: () => real.uptimeMs(),
    facts: (signal) => real.facts(signal),
    run: (command, signal) => real.run(command, signal),
    reboot: (signal) => real.reboot(signal),
    hold: (job, signal) => real.hold(job, signal),
    look: (process, resultPath) => real.look(process, resultPath),
    ended: (process, signal) => real.ended(process, signal),
    end: (process, graceMs, signal) => real.end(process, graceMs, signal),
  }
}

/** Dies once after each file that is new in the journal, and once in the middle of each step. */
function dyingRename(disk: Disk, died: ReadonlySet<string>, midwayMs: LifePlan['midwayMs']): Disk['rename'] {
  return async (from, to) => {
    const name = basename(to)
    const [, stem, step = '', word] = /^(step-[0-9]+-(.+))\.(inprogress|done)$/.exec(name) ?? []
    const midway = `${stem}.inprogress midway`
    // However quick it was: what it did is not on record yet.
    if (word === 'done' && died.has(`${stem}.inprogress`) && !died.has(midway)) die(midway)
    await disk.rename(from, to)
    if (!died.has(name)) die(name)
    if (word === 'inprogress' && !died.has(midway)) setTimeout(() => die(midway), midwayMs[step] ?? 0)
  }
}

/** Stays before the word that its order has ended. */
function endlessRename(disk: Disk): Disk['rename'] {
  return async (from, to) => {
    if (isEndFile(basename(to))) {
      tell({ ending: basename(to) })
      await new Promise(() => undefined)
    }
    await disk.rename(from, to)
  }
}

function die(at: string): void {
  tell({ died: at })
  process.kill(process.pid, 'SIGKILL')
}

function tell(event: LifeEvent): void {
  writeSync(1, `${JSON.stringify(event)}\n`)
}
