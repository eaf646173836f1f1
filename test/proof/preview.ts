// make proof-preview: plans so many drawn clusters, carries each plan out, prints how right the plans were and keeps the figures.
// Stopped in between it goes on where it was; the commits it began on are kept with the figures.

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { whyNoApiServer } from '../bed/programs.ts'
import type { Comparison } from './compare.ts'
import { figuresOf, figuresText, isRight } from './figures.ts'
import { commitOfTree, keepResult, today } from './kept-results.ts'
import type { LaneAnswer, LaneTask } from './preview-lane.ts'

interface Kept {
  readonly commits: readonly string[]
  readonly comparisons: Readonly<Record<string, Comparison>>
}

const { values } = parseArgs({
  options: {
    clusters: { type: 'string', default: '500' },
    first: { type: 'string', default: '1' },
    /** Of the nodes of a cluster so many are rehearsed at most, as of one that is too large for more. */
    share: { type: 'string', default: '1' },
    real: { type: 'string', default: '0' },
    lanes: { type: 'string', default: '2' },
    /** Writes docs/proof/preview.json. */
    keep: { type: 'boolean', default: false },
  },
})
const seeds = { first: Number(values.first), last: Number(values.first) + Number(values.clusters) - 1 }
const missing = Number(values.real) > 0 ? await whyNoApiServer() : undefined
if (missing) process.stdout.write(`no cluster on a real API server: ${missing}\n`)
const realClusters = missing ? 0 : Number(values.real)
const rehearsedShare = Number(values.share)
const commit = commitOfTree()
const folder = join(import.meta.dirname, '../../.cache/proof')
const path = join(folder, rehearsedShare < 1 ? 'preview-part.json' : 'preview.json')
const tasks: LaneTask[] = [
  ...Array.from({ length: realClusters }, (_, index) => ({
    where: 'real' as const,
    seed: seeds.first + index,
    rehearsedShare,
  })),
  ...Array.from({ length: seeds.last - seeds.first + 1 }, (_, index) => ({
    where: 'simulated' as const,
    seed: seeds.first + index,
    rehearsedShare,
  })),
]
const before = keptBefore(tasks.map(nameOf))
const comparisons = new Map(Object.entries(before.comparisons))
const commits = [...new Set([...before.commits, commit])]
const failures: string[] = []
const queue = tasks.filter((task) => !comparisons.has(nameOf(task)))
mkdirSync(folder, { recursive: true })
await Promise.all(
  Array.from({ length: Number(values.lanes) }, (_, lane) => runLane(lane % 2 === 0 ? 'simulated' : 'real')),
)

const figures = figuresOf(comparisons)
process.stdout.write(
  `${figures.clusters} clusters, ${realClusters} of them on a real API server; seeds ${seeds.first} to ${seeds.last}\n${figuresText(figures)}`,
)
for (const failure of failures) process.stdout.write(`  no result, ${failure}\n`)
const isWhole = comparisons.size === tasks.length
if (values.keep && isWhole) {
  const { unpredicted, certainThatDidNotHappen, otherWaves, otherOrder, ...counts } = figures
  keepResult('preview', {
    ...{ date: today(), commit, command: `make proof-preview FIRST=${seeds.first}`, seeds, ...counts, realClusters },
    earlierCommits: commits.filter((one) => one !== commit),
    unpredicted: unpredicted.length,
    certainThatDidNotHappen: certainThatDidNotHappen.length,
    otherWaves: otherWaves.length,
    otherOrder: otherOrder.length,
  })
}
process.exitCode = isWhole && !missing && isRight(figures, rehearsedShare) ? 0 : 1

/** Real clusters wait more than they compute: each lane begins with one sort, and helps out with the other. */
async function runLane(first: LaneTask['where']): Promise<void> {
  const lane = fork(join(import.meta.dirname, 'preview-lane.ts'))
  const next = () => {
    const index = queue.findIndex(({ where }) => where === first)
    return queue.splice(Math.max(0, index), 1)[0]
  }
  for (let task = next(); task; task = next()) {
    const answer = await prove(lane, task)
    if ('failure' in answer) failures.push(`${nameOf(task)}: ${answer.failure}`)
    else comparisons.set(nameOf(task), answer.comparison)
    const kept: Kept = { commits, comparisons: Object.fromEntries(comparisons) }
    writeFileSync(path, `${JSON.stringify(kept, null, 2)}\n`)
    if (process.stderr.isTTY) process.stderr.write(`\r${comparisons.size} of ${tasks.length} clusters`)
  }
  lane.disconnect()
}

async function prove(lane: ChildProcess, task: LaneTask): Promise<LaneAnswer> {
  const ended = new AbortController()
  const exit = once(lane, 'exit', { signal: ended.signal }).then(([code]) => ({
    failure: `the process ended: ${code}`,
  }))
  exit.catch(() => undefined)
  lane.send(task)
  const answer = await Promise.race([once(lane, 'message').then(([message]) => message as LaneAnswer), exit])
  ended.abort()
  return answer
}

/** What was stopped goes on; what came to its end, or was about other clusters, begins anew. */
function keptBefore(wanted: readonly string[]): Kept {
  const none: Kept = { commits: [], comparisons: {} }
  try {
    const kept = JSON.parse(readFileSync(path, 'utf8')) as Kept
    const names = Object.keys(kept.comparisons)
    return names.length < wanted.length && names.every((name) => wanted.includes(name)) ? kept : none
  } catch {
    // None yet, or one that was being written when it was stopped.
    return none
  }
}

function nameOf({ where, seed }: LaneTask): string {
  return where === 'real' ? `real cluster ${seed}` : `cluster ${seed}`
}
