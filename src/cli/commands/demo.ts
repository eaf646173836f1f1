// slipway demo: the real operator and agents on a cluster in memory, with faults on purpose.

import type { Command } from 'commander'
import type { CommandContext, RunAction } from '../command-context.ts'
import type { DemoConsole, RolloutFigures } from '../dependencies.ts'
import { exitCode } from '../exit-code.ts'
import { progressSink } from '../progress/choose-sink.ts'
import type { ProgressSink } from '../progress/sink.ts'
import { type Format, formatOption, writeValue } from '../structured-output.ts'
import { spanText } from '../time-text.ts'
import { nodesWithPods, positiveNumber, wholeNumber } from '../usage.ts'

interface DemoCommandOptions {
  readonly once?: boolean
  readonly console?: boolean
  readonly port: number
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
      'Runs the real operator and agents on a simulated cluster and upgrades it, with a PodDisruptionBudget that blocks for a while, an operator crash and a node reboot. Needs no cluster and touches nothing. On a terminal it serves the console, too, and stays until Ctrl-C; otherwise it ends with the upgrade.',
    )
    .option('--once', 'as fast as it goes, showing only how it ended')
    .option('--console', 'serve the console also without a terminal, or with --once')
    .option('--port <number>', 'of the console; 0 = any that is free', wholeNumber(0, 65_535), 0)
    .option('--nodes <count>', 'how many nodes', nodesWithPods(5000), 12)
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
  slipway demo --console --port 8080
  slipway demo --once --output json`,
    )
    .action(run(runDemoCommand))
}

async function runDemoCommand(context: CommandContext, options: DemoCommandOptions): Promise<number> {
  const { out, signal } = context
  const shown = options.output === 'table' && !options.once
  const sink = progressSink(context, shown ? 'lines' : 'none')
  const isWatched = shown && out.isTTY
  const speed = options.speed ?? (isWatched ? watchableSpeed : Number.POSITIVE_INFINITY)
  const console = await consoleOf(context, options, isWatched, sink)
  const figures = await context
    .runDemo({ nodes: options.nodes, seed: options.seed, speed, ...(console && { console }) }, sink, signal)
    .finally(() => sink.end())
  if (options.output !== 'table') await writeValue(context, options.output, figures)
  else if (!console?.stays) out.write(figuresText(figures))
  // Whoever stays until they have seen enough has not failed.
  if (console?.stays && figures.violations.length === 0) return exitCode.done
  return figures.phase === 'Succeeded' && figures.violations.length === 0 ? exitCode.done : exitCode.failed
}

async function consoleOf(
  { out, err, hasPage }: CommandContext,
  { console, once, port }: DemoCommandOptions,
  isWatched: boolean,
  sink: ProgressSink,
): Promise<DemoConsole | undefined> {
  if (!console && !isWatched) return undefined
  if (!console && !(await hasPage())) {
    err.write('the console’s page is not built, so none is served; build it: make build\n')
    return undefined
  }
  return {
    port,
    stays: isWatched && !once,
    onReady: (url) => out.write(`console: ${url}\n`),
    onEnd: (figures) => {
      sink.end()
      out.write(`${figuresText(figures)}the cluster goes on, and the console with it; Ctrl-C ends both\n`)
    },
  }
}

export function figuresText(figures: RolloutFigures): string {
  const { phase, nodes, violations, makespanSeconds, idealSeconds, ratio, requestsPerNode, seed } = figures
  const broken = violations.map(({ rule, message }) => `  rule ${rule} broken: ${message}\n`).join('')
  return `${phase}: ${nodes} nodes in ${spanText(makespanSeconds * 1000)} of cluster time (ideal ${spanText(idealSeconds * 1000)}, ratio ${ratio.toFixed(2)}), ${requestsPerNode.toFixed(1)} API requests a node, ${violations.length} rules broken (seed ${seed})\n${broken}`
}
