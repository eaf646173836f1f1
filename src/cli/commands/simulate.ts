// slipway simulate: the same engine on an invented cluster, with faults, for many seeds.

import { type Command, InvalidArgumentError, Option } from 'commander'
import { SlipwayError } from '../../api/slipway-error.ts'
import type { CommandContext, RunAction } from '../command-context.ts'
import type { ExplainedWait, SimulateOptions, SimulateResult } from '../dependencies.ts'
import { exitCode } from '../exit-code.ts'
import { withActivity } from '../progress/activity.ts'
import { readText } from '../read-text.ts'
import { shrunkText } from '../shrunk-text.ts'
import { differenceOf, parseRecord, recordText, replayText } from '../simulation-record.ts'
import { type Format, formatOption, writeValue } from '../structured-output.ts'
import { type Column, tableLines } from '../table.ts'
import { spanText } from '../time-text.ts'
import { nodeCount, nodesWithPods, wholeNumber } from '../usage.ts'
import { figuresText } from './demo.ts'

interface SimulateCommandOptions {
  readonly nodes?: number
  readonly podsPerNode: number
  readonly faults: SimulateOptions['faults']
  readonly seeds: SimulateOptions['seeds']
  readonly maxUnavailable: number | string
  readonly without?: readonly string[]
  readonly shrink?: boolean
  readonly explain?: boolean
  readonly record?: string
  readonly replay?: string
  readonly output: Format
}

const shownViolations = 20

export function addSimulate(parent: Command, run: RunAction): void {
  parent
    .command('simulate')
    .description(
      'Runs the real operator and agents on invented clusters in virtual time and checks the safety rules after every write. Exit code 1 when a rule was broken; the seed repeats the run exactly.',
    )
    .option('--nodes <count>', 'nodes of each cluster (100; with faults 6 to 12, drawn)', nodesWithPods(10_000))
    .option('--pods-per-node <count>', 'pods on each node', wholeNumber(0, 110), 20)
    .option('--faults <kinds>', 'none, all, or some kinds joined by commas', parseFaults, 'none')
    .addOption(
      new Option('--seeds <range>', 'which runs, like 7 or 1..1000')
        .argParser(parseSeeds)
        .default({ first: 1, last: 1 }, '1'),
    )
    .option('--max-unavailable <count>', 'workers away at once: a number or a percentage', nodeCount, '5%')
    .option('--without <parts>', 'leave parts of the histories with faults out, joined by commas', parseParts)
    .option('--shrink', 'find the shortest history that still breaks the same rule, of the first that breaks one')
    .option('--explain', 'also tell why nodes and updates waited, and how long')
    .option('--record <file>', 'save what was asked and a digest of every write')
    .addOption(
      new Option('--replay <file>', 'run a saved simulation again and compare every write').conflicts([
        ...['nodes', 'podsPerNode', 'maxUnavailable', 'faults', 'seeds', 'record', 'without', 'shrink'],
      ]),
    )
    .addOption(formatOption('table', 'json', 'yaml'))
    .addHelpText(
      'after',
      `
Examples:
  slipway simulate --nodes 500
  slipway simulate --faults all --seeds 1..1000 --output json
  slipway simulate --faults operator-killed --seeds 42
  slipway simulate --nodes 50 --explain
  slipway simulate --faults all --seeds 1..1000 --shrink --record shortest.json
  slipway simulate --faults all --seeds 42 --record run.json && slipway simulate --replay run.json`,
    )
    .action(run(runSimulateCommand))
}

async function runSimulateCommand(context: CommandContext, options: SimulateCommandOptions): Promise<number> {
  const { output, record: file, replay, explain, shrink, ...asked } = options
  const saved = replay === undefined ? undefined : parseRecord(await readText(context, replay), replay)
  const simulation: SimulateOptions = {
    ...(saved?.options ?? asked),
    ...(explain && { explain }),
    ...(shrink && { shrink }),
    ...((file !== undefined || saved) && { record: true }),
  }
  refuseTooFew(simulation)
  const { first, last } = simulation.seeds
  const total = last - first + 1
  const run = await withActivity(context, `${total} ${total === 1 ? 'run' : 'runs'}`, (activity) => {
    const onRun = (done: number) => activity.at(`${done} of ${total} runs`, done, total)
    return context.runSimulate(simulation, onRun, context.signal)
  })
  const { recorded, ...result } = run
  if (context.signal.aborted) return exitCode.interrupted
  const { shrunk } = result
  const ran = shrunk ? { ...asked, seeds: { first: shrunk.seed, last: shrunk.seed }, without: shrunk.without } : asked
  const difference = saved && differenceOf(saved.runs, recorded ?? [])
  if (output === 'table')
    context.out.write(`${resultText(result, simulation)}${saved ? replayText(saved, difference, context.version) : ''}`)
  else
    await writeValue(context, output, {
      ...result,
      ...(saved && { replay: { same: difference === undefined, difference } }),
    })
  // What came of hours is told though it cannot be saved.
  if (file !== undefined) await context.writeFile(file, `${recordText(context.version, ran, recorded ?? [])}\n`)
  return result.violations.length > 0 || difference !== undefined ? exitCode.failed : exitCode.done
}

/** Of fewer workers two that are away leave no room for the pods of both, and an update that waits for that for ever is right. */
const fewestWithFaults = 5

function refuseTooFew({ faults, nodes }: SimulateOptions): void {
  if (faults === 'none' || nodes === undefined || nodes >= fewestWithFaults) return
  throw new SlipwayError('Usage', `with faults two workers may be away at once: ${nodes} nodes have no room for that`, {
    nextStep: `slipway simulate --faults all --nodes ${fewestWithFaults}`,
  })
}

function resultText(
  { runs, violations, faults, together, shrunk, rollouts, waits }: SimulateResult,
  asked: Pick<SimulateOptions, 'faults' | 'nodes'>,
): string {
  const lines = [`${runs} ${runs === 1 ? 'run' : 'runs'}, ${violations.length} rules broken\n`]
  for (const { seed, rule, message } of violations.slice(0, shownViolations))
    lines.push(`  seed ${seed}: rule ${rule}: ${message}\n`)
  if (violations.length > shownViolations) lines.push(`  … and ${violations.length - shownViolations} more\n`)
  const hits = Object.entries(faults ?? {})
  if (hits.length > 0) lines.push(`faults: ${hits.map(([kind, count]) => `${kind} ${count}`).join(', ')}\n`)
  const pairs = Object.keys(together ?? {}).filter((name) => name.includes(' + '))
  if (pairs.length > 0) lines.push(`pairs of faults that struck in one run: ${pairs.length}\n`)
  if (shrunk) lines.push(shrunkText(shrunk, asked))
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

function parseParts(text: string): readonly string[] {
  const parts = text.split(',').map((part) => part.trim())
  if (parts.every((part) => /^[A-Za-z0-9][-A-Za-z0-9]{0,60}(#[1-9])?$/.test(part))) return parts
  throw new InvalidArgumentError('It must be parts joined by commas, as --shrink names them.')
}

function parseFaults(text: string): SimulateOptions['faults'] {
  if (text === 'none' || text === 'all') return text
  const kinds = text.split(',').map((kind) => kind.trim())
  if (kinds.every((kind) => /^[A-Za-z][-A-Za-z0-9]*$/.test(kind))) return kinds
  throw new InvalidArgumentError('It must be none, all, or kinds joined by commas.')
}
