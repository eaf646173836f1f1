// make proof-preview: plans so many invented clusters, carries each plan out, prints how right the plans were and keeps the figures.

import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { noFigures, proveCluster } from './preview-proof.ts'

const { values } = parseArgs({
  options: { clusters: { type: 'string', default: '500' }, first: { type: 'string', default: '1' } },
})
const first = Number(values.first)
const last = first + Number(values.clusters) - 1
const { signal } = new AbortController()
const figures = noFigures()
const startedMs = performance.now()
for (let seed = first; seed <= last; seed++) {
  await proveCluster(seed, figures, signal)
  if (process.stderr.isTTY) process.stderr.write(`\r${figures.clusters} clusters`)
}

const share = (part: number, whole: number) => (whole === 0 ? 1 : part / whole)
const shares = {
  blocksCalledCertain: share(figures.calledCertain, figures.blocks),
  possibleThatHappened: share(figures.possibleThatHappened, figures.possibleCalls),
}
const percent = (ratio: number) => `${(100 * ratio).toFixed(1)} %`
const lines = [
  `${figures.clusters} clusters, seeds ${first} to ${last}, ${Math.round((performance.now() - startedMs) / 1000)} s`,
  `blocks that happened: ${figures.blocks}; called certain before: ${percent(shares.blocksCalledCertain)} (at least 80 %)`,
  `blocks nobody predicted: ${figures.unpredicted.length} (must be 0)`,
  `blocks called certain: ${figures.certainCalls}; that did not happen: ${figures.certainThatDidNotHappen.length} (must be 0)`,
  `blocks called possible: ${figures.possibleCalls}; that happened: ${percent(shares.possibleThatHappened)} (at least 30 %)`,
  `clusters with other waves than planned: ${figures.otherWaves.length} (must be 0)`,
  `places called certain: ${figures.placesCalledCertain}; taken by another node: ${figures.otherOrder.length} (must be 0)`,
]
process.stdout.write(`${lines.join('\n')}\n`)
const wrong = [...figures.unpredicted, ...figures.certainThatDidNotHappen, ...figures.otherWaves, ...figures.otherOrder]
for (const line of wrong) process.stdout.write(`  ${line}\n`)

const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim()
mkdirSync('.cache/proof', { recursive: true })
const record = { date: new Date().toISOString().slice(0, 10), commit, seeds: { first, last }, ...figures, shares }
writeFileSync('.cache/proof/preview.json', `${JSON.stringify(record, null, 2)}\n`)
const isRight = wrong.length === 0 && shares.blocksCalledCertain >= 0.8 && shares.possibleThatHappened >= 0.3
process.exitCode = isRight ? 0 : 1
