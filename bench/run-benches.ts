// Runs benches, prints their table and keeps it in bench-results.json; figures of other benches that are there stay.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism, loadavg } from 'node:os'
import { commitOfTree, keepResult, today } from '../test/proof/kept-results.ts'
import { type Bench, type Figure, isMet, type Measurement, rounded } from './figure.ts'

const resultsPath = 'bench-results.json'

interface Result {
  readonly bench: string
  readonly command: string
  readonly measuredAt: string
  readonly seconds: number
  /** Processes waiting for a core when it began, and cores: a busy machine makes times longer. */
  readonly load: number
  readonly cores: number
  readonly figures: readonly (Omit<Figure, 'wanted'> & { readonly wanted: string; readonly met: boolean })[]
  readonly seen: Measurement['seen']
  readonly error?: string
}

/** Returns the exit code: 1 when something could not be measured. `proof`: the command whose figures docs/reliability.md shows. A figure that misses is a result, and the table says so. */
export async function runBenches(
  benches: readonly Bench[],
  command: (name: string) => string,
  proof?: string,
): Promise<number> {
  const commit = commitOfTree()
  const stop = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort())
  const run = (bench: Bench) => measured(bench, command(bench.name), stop.signal)
  const results = await Promise.all(benches.filter(({ alone }) => !alone).map(run))
  for (const bench of benches.filter(({ alone }) => alone)) if (!stop.signal.aborted) results.push(await run(bench))
  const ordered = benches.flatMap(({ name }) => results.filter(({ bench }) => bench === name))
  process.stdout.write(tableText(ordered))
  const others = earlier().filter(({ bench }) => !ordered.some((result) => result.bench === bench))
  writeFileSync(resultsPath, `${JSON.stringify([...others, ...ordered], undefined, 2)}\n`)
  if (ordered.some(({ error }) => error !== undefined) || stop.signal.aborted) return 1
  const figures = ordered.flatMap((result) => result.figures)
  if (proof !== undefined) {
    keepResult('bench', { date: today(), commit, command: proof, cores: availableParallelism(), figures })
  }
  return 0
}

async function measured(bench: Bench, command: string, signal: AbortSignal): Promise<Result> {
  const measuredAt = new Date()
  const [load = 0] = loadavg()
  process.stderr.write(`${bench.name} …\n`)
  let outcome: Measurement & { readonly error?: string }
  try {
    outcome = await bench.measure(signal)
  } catch (error) {
    outcome = { figures: [], seen: {}, error: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
  const seconds = (Date.now() - measuredAt.getTime()) / 1000
  process.stderr.write(`${bench.name}: ${seconds.toFixed(0)} s ${JSON.stringify(outcome.seen)}\n`)
  return {
    bench: bench.name,
    command,
    measuredAt: measuredAt.toISOString(),
    seconds,
    load: rounded(load),
    cores: availableParallelism(),
    ...outcome,
    figures: outcome.figures.map((figure) => ({
      ...figure,
      measured: rounded(figure.measured),
      wanted: wantedText(figure),
      met: isMet(figure),
    })),
  }
}

function earlier(): readonly Result[] {
  return existsSync(resultsPath) ? (JSON.parse(readFileSync(resultsPath, 'utf8')) as Result[]) : []
}

function tableText(results: readonly Result[]): string {
  const rows = results.flatMap(({ command, figures, error }) => [
    ...figures.map(({ what, measured: value, unit, wanted, met }) => [
      what,
      command,
      `${value}${unit && ` ${unit}`}`,
      wanted,
      met ? 'yes' : 'NO',
    ]),
    ...(error === undefined ? [] : [['not measured', command, firstLine(error), '', 'NO']]),
  ])
  const lines = [['what', 'command', 'measured', 'wanted', 'met'], ...rows]
  const widths = [0, 1, 2, 3].map((column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  const text = lines.map((line) =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
  const errors = results.flatMap(({ bench, error }) => (error === undefined ? [] : [`\n${bench}: ${error}`]))
  return `${[...text, ...errors].join('\n')}\n`
}

function wantedText({ wanted, unit }: Figure): string {
  const [sign, value] = 'atMost' in wanted ? ['≤', wanted.atMost] : ['≥', wanted.atLeast]
  return `${sign} ${value}${unit && ` ${unit}`}`
}

function firstLine(text: string): string {
  const [line = ''] = text.split('\n')
  return line.length > 60 ? `${line.slice(0, 59)}…` : line
}
