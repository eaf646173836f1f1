// slipway demo: the real operator and agents on a cluster in memory, with faults on purpose.

import type { Command } from 'commander'
import type { CommandContext, RunAction } from '../command-context.ts'
import type { RolloutFigures } from '../dependencies.ts'
import { exitCode } from '../exit-code.ts'
import { progressSink } from '../progress/choose-sink.ts'
import { type Format, formatOption, writeValue } from '../structured-output.ts'
import { spanText } from '../time-text.ts'
import { positiveNumber, wholeNumber } from '../usage.ts'

interface DemoCommandOptions {
  readonly once?: boolean
  readonly output: Format
  readonly nodes: number
  readonly seed: number
  readonly speed?: number
}

/** Virtual seconds per second on a terminal: slow enough to read, fast enough to stay. */
const watchableSpeed = 20

export function addDemo(parent: Command, run: RunAction): void {
  parent
    .command('demo')
    .summary('watch an upgrade with faults on a cluster in memory')
    .description(
      'Runs the real operator and agents on a simulated cluster and upgrades it, with a PodDisruptionBudget that blocks for a while,\nan operator crash and a node reboot. Needs no cluster and touches nothing.',
    )
    .option('--once', 'as fast as it goes, showing only how it ended')
    .option('--nodes <count>', 'how many nodes', wholeNumber(1, 5000), 12)
    .option('--seed <number>', 'decides everything that happens', wholeNumber(0, 4_294_967_295), 1)
    .option(
      '--speed <factor>',
      `simulated seconds per second (a terminal: ${watchableSpeed}; otherwise as fast as it goes)`,
      positiveNumber,
    )
    .addOption(formatOption('table', 'json', 'yaml'))
    .addHelpText(
      'after',
      `
Examples:
  slipway demo
  slipway demo --nodes 50 --seed 7 --speed 60
  slipway demo --once --output json`,
    )
    .action(run(runDemoCommand))
}

async function runDemoCommand(context: CommandContext, options: DemoCommandOptions): Promise<number> {
  const { out, signal } = context
  const shown = options.output === 'table' && !options.once
  const sink = progressSink(context, shown ? 'lines' : 'none')
  const speed = options.speed ?? (shown && out.isTTY ? watchableSpeed : Number.POSITIVE_INFINITY)
  const figures = await context
    .runDemo({ nodes: options.nodes, seed: options.seed, speed }, sink, signal)
    .finally(() => sink.end())
  if (options.output === 'table') out.write(figuresText(figures))
  else await writeValue(context, options.output, figures)
  return figures.phase === 'Succeeded' && figures.violations.length === 0 ? exitCode.done : exitCode.failed
}

export function figuresText(figures: RolloutFigures): string {
  const { phase, nodes, violations, makespanSeconds, idealSeconds, ratio, requestsPerNode, seed } = figures
  const broken = violations.map(({ rule, message }) => `  rule ${rule} broken: ${message}\n`).join('')
  return `${phase}: ${nodes} nodes in ${spanText(makespanSeconds * 1000)} of cluster time (ideal ${spanText(idealSeconds * 1000)}, ratio ${ratio.toFixed(2)}), ${requestsPerNode.toFixed(1)} API requests a node, ${violations.length} rules broken (seed ${seed})\n${broken}`
}
