// make exhaustive: an update of three nodes, told once for every crash point of operator and agents and once for every pair of
// them. Also tells a single history with all that happens in it: node test/proof/exhaustive.ts --history 17,43

import { type ChildProcess, fork } from 'node:child_process'
import { parseArgs } from 'node:util'
import { tellHistory } from './crash-history.ts'
import type { CrashPoint } from './crash-points.ts'
import { type FirstCrash, tellAllAfter, tellSingle, type Violation } from './exhaustive-lane.ts'
import { keepRecord, type Progress, readProgress, spread, writeProgress } from './exhaustive-record.ts'
import { countsText, pointText, Teller, violationsText } from './exhaustive-text.ts'
import { tellAloud } from './history-aloud.ts'
import { commitOfTree } from './kept-results.ts'
import { sourcesOf } from './sources.ts'

interface Asked {
  readonly first: number
  readonly point: CrashPoint | undefined
}

type Told = { readonly history: true } | { readonly over: FirstCrash }

const lanes = 2
const say = (text: string): unknown => process.stdout.write(text)

const { values } = parseArgs({
  options: { history: { type: 'string' }, first: { type: 'string' }, singles: { type: 'string' } },
})
if (process.send) lane()
else if (values.history !== undefined) process.exitCode = await tellAloud(numbers(values.history), process.stdout)
else if (values.first !== undefined) process.exitCode = await tellFirst(Number(values.first))
else if (values.singles !== undefined) process.exitCode = await tellSingles(values.singles)
else process.exitCode = await tellEverything()

/** As a child of the proof: tells all histories with the first crash it is asked for. */
function lane(): void {
  process.on('disconnect', () => process.exit())
  process.on('message', ({ first, point }: Asked) => {
    void tellAllAfter(first, point, () => process.send?.({ history: true } satisfies Told)).then((over) =>
      process.send?.({ over } satisfies Told),
    )
  })
}

/** Every history whose first crash is at that point. */
async function tellFirst(first: number): Promise<number> {
  const { points } = await tellHistory({ crashes: [] })
  const { pairs, violations } = await tellAllAfter(first, points[first], () => undefined)
  say(`first crash: ${pointText(points[first])}; ${pairs} pairs, ${violations.length} violations\n`)
  say(violationsText(violations))
  return violations.length === 0 ? 0 : 1
}

/** One crash only, at each point of that process. */
async function tellSingles(victim: string): Promise<number> {
  const { points } = await tellHistory({ crashes: [] })
  const own = [...points.entries()].filter(([, point]) => point.victim === victim)
  const violations: Violation[] = []
  for (const [first, point] of own) violations.push(...(await tellSingle(first, point)).violations)
  say(`${own.length} single crashes, ${violations.length} violations\n${violationsText(violations)}`)
  return violations.length === 0 ? 0 : 1
}

async function tellEverything(): Promise<number> {
  const commit = commitOfTree()
  const { points, folded, findings } = await tellHistory({ crashes: [] })
  if (findings.length > 0) throw new Error(`goes wrong without any crash: ${findings[0]?.message}`)
  const progress = readProgress(sourcesOf('test/proof/crash-*.ts'))
  const known = new Set(progress.done.map(({ first }) => first))
  say(countsText(points, folded))
  if (known.size > 0) say(`${known.size} first crashes are done, going on\n`)
  const left = spread(points.length).filter((first) => !known.has(first))
  await carryOn(points, left, progress)
  const { pairs, run, violations, slowest, seconds } = keepRecord(commit, points, progress)
  say(`${points.length} single crashes, ${pairs} pairs: ${run} were run, the others are the same as one of these\n`)
  if (slowest) say(`longest update: ${Math.round(slowest.tookMs / 1000)} s, with crashes at ${slowest.crashes}\n`)
  say(`${violations.length} violations, ${seconds} s\n${violationsText(violations)}`)
  return violations.length === 0 ? 0 : 1
}

async function carryOn(points: readonly CrashPoint[], left: readonly number[], progress: Progress): Promise<void> {
  const startedMs = performance.now()
  const before = progress.seconds
  const teller = new Teller(points.length, progress.done, say)
  const queue = [...left]
  const work = async (): Promise<void> => {
    const child = fork(import.meta.filename, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    try {
      for (let first = queue.shift(); first !== undefined; first = queue.shift()) {
        const over = await ask(child, { first, point: points[first] }, () => teller.history())
        say(violationsText(over.violations))
        progress.done.push(over)
        progress.seconds = before + (performance.now() - startedMs) / 1000
        writeProgress(progress)
      }
    } finally {
      child.kill()
    }
  }
  await Promise.all(Array.from({ length: Math.min(lanes, left.length) }, work))
}

function ask(child: ChildProcess, asked: Asked, onHistory: () => void): Promise<FirstCrash> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null): void =>
      reject(new Error(`a lane ended with ${code} at first crash ${asked.first}`))
    const heard = (told: Told): void => {
      if ('history' in told) {
        onHistory()
        return
      }
      child.off('message', heard)
      child.off('exit', ended)
      resolve(told.over)
    }
    child.on('message', heard)
    child.on('exit', ended)
    child.send(asked)
  })
}

function numbers(text: string): readonly number[] {
  return text.split(',').map(Number)
}
