// make fault-runs: so many drawn histories with faults, two processes at a time. What was done stands in docs/proof, as long as
// no rule was broken. It goes on where it was stopped, in another clone too, for the same sources only.

import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { faultCombinations, impossiblePairs } from '../../src/sim/fault-combination.ts'
import {
  type FaultProgress,
  loadProgress,
  nothingDone,
  type Range,
  runsDone,
  type SliceReport,
  saveProgress,
  slicesLeft,
  withSlice,
} from './fault-progress.ts'
import { commitOfTree, keepResult, keptResults, today } from './kept-results.ts'
import { sourcesOf } from './sources.ts'

const path = '.cache/proof/fault-runs.json'
const sliceSize = 500
const lanes = 2

const { values } = parseArgs({ options: { runs: { type: 'string', default: '500000' } } })
const runs = Number(values.runs)
const commit = commitOfTree()
let progress = progressOf(sourcesOf())
const slices = [...slicesLeft(progress, runs, sliceSize)]
const startedMs = performance.now()
let runsNow = 0
let cpuSecondsNow = 0

const whole = (value: number) => Math.round(value).toLocaleString('en')
const say = (line: string) => process.stdout.write(`${line}\n`)

const left = slices.reduce((sum, { first, last }) => sum + last - first + 1, 0)
say(`seeds 1 to ${whole(runs)} on ${commit}: ${whole(left)} runs to do, ${path} keeps what is done`)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(end() || 130))
const children = await Promise.all(Array.from({ length: Math.min(lanes, slices.length) }, runLane))
for (const child of children) child.disconnect()
process.exitCode = end()

/** The furthest that anybody has come with them. */
function progressOf(sources: string): FaultProgress {
  const own = loadProgress(path)
  const kept = keptProgress()
  const known = [own, kept].filter((one) => one?.sources === sources)
  return known.toSorted((a, b) => runsOf(b) - runsOf(a))[0] ?? nothingDone(sources)
}

function runsOf(one: FaultProgress | undefined): number {
  return one ? runsDone(one) : 0
}

function keptProgress(): FaultProgress | undefined {
  const kept = keptResults()['fault-runs']
  if (!kept?.soFar) return undefined
  const { soFar, faults, cpuSeconds } = kept
  return { ...soFar, faults, cpuSeconds, broken: [] }
}

/** Takes slice after slice; an interruption ends this process, and with it the lanes. */
async function runLane(): Promise<ChildProcess> {
  const child = fork(join(import.meta.dirname, 'fault-lane.ts'), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    // Each lane has a core: threads that collect beside it would take the other's.
    execArgv: ['--single-threaded-gc', '--max-semi-space-size=64'],
  })
  for (let slice = slices.shift(); slice; slice = slices.shift()) note(await runSlice(child, slice))
  return child
}

function runSlice(child: ChildProcess, { first, last }: Range): Promise<SliceReport> {
  return new Promise((resolve, reject) => {
    const died = (code: number | null) =>
      reject(new Error(`the process for seeds ${first} to ${last} ended with ${code}`))
    child.once('exit', died)
    child.once('message', (report) => {
      child.off('exit', died)
      resolve(report as SliceReport)
    })
    child.send({ first, last, commit })
  })
}

function note(slice: SliceReport): void {
  progress = withSlice(progress, slice)
  saveProgress(path, progress)
  for (const { seed, rule, message } of slice.violations) say(`seed ${seed}: rule ${rule}: ${message}`)
  runsNow += slice.last - slice.first + 1
  cpuSecondsNow += slice.cpuSeconds
  const leftSeconds = ((left - runsNow) * (performance.now() - startedMs)) / runsNow / 1000
  say(
    `${whole(runsDone(progress))} of ${whole(runs)} runs, ${(runsNow / cpuSecondsNow).toFixed(1)} a second and core, about ${timeText(leftSeconds)} left`,
  )
}

function timeText(seconds: number): string {
  const minutes = Math.ceil(seconds / 60)
  return minutes < 120 ? `${minutes} min` : `${(minutes / 60).toFixed(1)} h`
}

function end(): number {
  const violations = progress.broken.flatMap((range) => range.violations)
  if (violations.length > 0) {
    const seeds = [...new Set(violations.map(({ seed }) => seed))]
    say(`a rule was broken in ${seeds.length} runs; the shortest history that breaks it:`)
    for (const seed of seeds.slice(0, 5)) say(`  ./slipway simulate --faults all --seeds ${seed} --shrink`)
    return 1
  }
  const pairs = faultCombinations().filter((kinds) => kinds.length === 2).length
  const struck = Object.keys(progress.together).filter((name) => name.includes(' + ')).length
  const impossible = Object.keys(impossiblePairs).length
  const { sources, done, together, faults } = progress
  const commits = [...new Set(done.map((range) => range.commit))]
  const all = runsDone(progress)
  say(`${whole(all)} runs, no rule broken; ${struck} of ${pairs} pairs of faults struck together`)
  // A quick look does not take the place of a long night.
  if (all === 0 || (keptResults()['fault-runs']?.runs ?? 0) > all) return 0
  keepResult('fault-runs', {
    date: today(),
    commit,
    earlierCommits: commits.filter((other) => other !== commit),
    command: `make fault-runs RUNS=${runs}`,
    seeds: { first: 1, last: Math.max(...done.map(({ last }) => last)) },
    runs: all,
    violations: 0,
    cpuSeconds: Math.round(progress.cpuSeconds),
    faults,
    pairs: { all: pairs, struck, impossible },
    soFar: { sources, done, together },
  })
  say('docs/proof/fault-runs.json has the figures')
  return 0
}
