// slipway simulate: the same engine on an invented cluster, with faults, for many seeds.

import { type Command, InvalidArgumentError, Option } from 'commander'
import type { CommandContext, RunAction } from '../command-context.ts'
import type { ExplainedWait, SimulateOptions, SimulateResult } from '../dependencies.ts'
import { exitCode } from '../exit-code.ts'
import { differenceOf, parseRecord, recordText, replayText } from '../simulation-record.ts'
import { type Format, formatOption, writeValue } from '../structured-output.ts'
import { type Column, tableLines } from '../table.ts'
import { spanText } from '../time-text.ts'
import { readText } from '../update-draft.ts'
import { nodeCount, wholeNumber } from '../usage.ts'
import { figuresText } from './demo.ts'

interface SimulateCommandOptions {
  readonly nodes?: number
  readonly podsPerNode: number
  readonly faults: SimulateOptions['faults']
  readonly seeds: SimulateOptions['seeds']
  readonly maxUnavailable: number | string
  readonly explain?: boolean
  readonly record?: string
  readonly replay?: string
  readonly output: Format
}

const shownViolations = 20
const progressEveryMs = 1000

export function addSimulate(parent: Command, run: RunAction): void {
  parent
    .command('simulate')
    .summary('run the engine on an invented cluster, with faults, for many seeds')
    .description(
      'Runs the real operator and agents on invented clusters in virtual time and checks the safety rules after every write.\nExit code 1 when a rule was broken; the seed repeats the run exactly.',
    )
    .option('--nodes <count>', 'nodes of each cluster (with faults: 6 to 12, drawn)', wholeNumber(1, 10_000))
    .option('--pods-per-node <count>', 'pods on each node', wholeNumber(0, 110), 20)
    .option('--faults <kinds>', 'none, all, or some kinds joined by commas', parseFaults, 'none')
    .option('--seeds <range>', 'which runs, like 7 or 1..1000', parseSeeds, { first: 1, last: 1 })
    .option('--max-unavailable <count>', 'workers away at once: a number or a percentage', nodeCount, '5%')
    .option('--explain', 'also tell why nodes and updates waited, and how long')
    .option('--record <file>', 'save what was asked and a digest of every write')
    .addOption(
      new Option('--replay <file>', 'run a saved simulation again and compare every write').conflicts([
        ...['nodes', 'faults', 'seeds', 'record'],
      ]),
    )
    .addOption(formatOption('table', 'json', 'yaml'))
    .addHelpText(
      'after',
      `
Examples:
  slipway simulate --nodes 500
  slipway simulate --faults all --seeds 1..1000 --output json
  slipway simulate --faults operator-crash --seeds 42
  slipway simulate --nodes 50 --explain
  slipway simulate --faults all --seeds 42 --record run.json && slipway simulate --replay run.json`,
    )
    .action(run(runSimulateCommand))
}

async function runSimulateCommand(context: CommandContext, options: SimulateCommandOptions): Promise<number> {
  const { output, record: file, replay, explain, ...asked } = options
  const saved = replay === undefined ? undefined : parseRecord(await readText(context, replay), replay)
  const simulation: SimulateOptions = {
    ...(saved?.options ?? asked),
    ...(explain && { explain }),
    ...((file !== undefined || saved) && { record: true }),
  }
  const run = await context.runSimulate(simulation, counter(context, simulation.seeds), context.signal)
  const { recorded, ...result } = run
  if (context.signal.aborted) return exitCode.interrupted
  if (file !== undefined) await context.writeFile(file, `${recordText(context.version, asked, recorded ?? [])}\n`)
  const difference = saved && differenceOf(saved.runs, recorded ?? [])
  if (output === 'table')
    context.out.write(`${resultText(result)}${saved ? replayText(saved, difference, context.version) : ''}`)
  else
    await writeValue(context, output, {
      ...result,
      ...(saved && { replay: { same: difference === undefined, difference } }),
    })
  return result.violations.length > 0 || difference !== undefined ? exitCode.failed : exitCode.done
}

/** A line that counts the runs, on a terminal only; the answer itself goes to standard output. */
function counter({ err, clock, options }: CommandContext, seeds: SimulateOptions['seeds']): (runsDone: number) => void {
  const total = seeds.last - seeds.first + 1
  let shownAtMs = clock.monotonicMs()
  return (runsDone) => {
    if (!err.isTTY || options.quiet || total === 1) return
    const nowMs = clock.monotonicMs()
    if (runsDone < total && nowMs - shownAtMs < progressEveryMs) return
    shownAtMs = nowMs
    err.write(`\r${runsDone} of ${total} runs${runsDone >= total ? '\n' : ''}`)
  }
}

function resultText({ runs, violations, faults, rollouts, waits }: SimulateResult): string {
  const lines = [`${runs} ${runs === 1 ? 'run' : 'runs'}, ${violations.length} rules broken\n`]
  for (const { seed, rule, message } of violations.slice(0, shownViolations))
    lines.push(`  seed ${seed}: rule ${rule}: ${message}\n`)
  if (violations.length > shownViolations) lines.push(`  … and ${violations.length - shownViolations} more\n`)
  const hits = Object.entries(faults ?? {})
  if (hits.length > 0) lines.push(`faults: ${hits.map(([kind, count]) => `${kind} ${count}`).join(', ')}\n`)
  if (waits) lines.push(waitsText(waits))
  for (const figures of rollouts ?? []) lines.push(figuresText({ ...figures, violations: [] }))
  return lines.join('')
}

function waitsText(waits: readonly ExplainedWait[]): string {
  if (waits.length === 0) return 'nothing waited\n'
  const columns: readonly Column<ExplainedWait>[] = [
    { title: 'WAITED FOR', value: ({ code }) => code },
    { title: 'TIMES', value: ({ times }) => String(times) },
    { title: 'IN ALL', value: ({ totalSeconds }) => spanText(totalSeconds * 1000) },
    { title: 'LONGEST', value: ({ longest }) => spanText(longest.seconds * 1000) },
    { title: 'WHO AND WHY', value: ({ longest }) => `${longest.who}: ${longest.message}` },
  ]
  return `${tableLines(columns, waits).join('\n')}\n`
}

function parseSeeds(text: string): SimulateOptions['seeds'] {
  const parts = /^(\d{1,10})(?:\.\.(\d{1,10}))?$/.exec(text)
  const first = Number(parts?.[1])
  const last = parts?.[2] === undefined ? first : Number(parts[2])
  if (parts && first <= last) return { first, last }
  throw new InvalidArgumentError('It must be one seed or a range such as 1..1000.')
}

function parseFaults(text: string): SimulateOptions['faults'] {
  if (text === 'none' || text === 'all') return text
  const kinds = text.split(',').map((kind) => kind.trim())
  if (kinds.every((kind) => /^[A-Za-z][-A-Za-z0-9]*$/.test(kind))) return kinds
  throw new InvalidArgumentError('It must be none, all, or kinds joined by commas.')
}
