// slipway plan: rehearses an update on this very cluster, in memory and in virtual time, and tells how it would go.

import { type Command, Option } from 'commander'
import type { PlanReport } from '../../core/plan/plan-report.ts'
import { parseClusterSnapshot, readClusterSnapshot } from '../cluster-snapshot.ts'
import type { CommandContext, RunAction } from '../command-context.ts'
import { exitCode } from '../exit-code.ts'
import { planText } from '../plan-text.ts'
import { type Format, formatOption, writeValue } from '../structured-output.ts'
import { type DraftOptions, draftUpdate, readText } from '../update-draft.ts'
import { workOptions } from '../update-options.ts'
import { wholeNumber } from '../usage.ts'

interface PlanOptions extends DraftOptions {
  readonly snapshot?: string
  readonly seed: number
  readonly rehearsals?: number
  readonly output: Format
}

export function addPlan(parent: Command, run: RunAction): void {
  const command = parent
    .command('plan')
    .summary('what an update would do to this cluster: order, duration, what is in its way')
    .description(
      'Reads the cluster (reading rights suffice), then rehearses the update on it several times, in memory: the real operator and\nagents, pretended hosts, virtual time. Nothing is written to the cluster. What every rehearsal meets for a reason that lasts is\ncertain, the rest possible.',
    )
  for (const option of workOptions()) command.addOption(option)
  command
    .addOption(new Option('--snapshot <file>', 'plan for a saved cluster: slipway snapshot > cluster.json'))
    .option(
      '--rehearsals <count>',
      'how often it is rehearsed (by default as often as the size allows)',
      wholeNumber(1, 20),
    )
    .option('--seed <number>', 'chance of the rehearsals', wholeNumber(0, 1_000_000_000), 1)
    .addOption(formatOption('table', 'json', 'yaml'))
    .addHelpText(
      'after',
      `
Examples:
  slipway plan --kubernetes v1.36.3 --max-unavailable 10%
  slipway plan -f update.yaml --output json
  slipway plan -f update.yaml --snapshot cluster.json

Exit codes: 0 nothing certain is in its way, 3 blocked for certain, 2 wrong usage, 4 cannot reach the API`,
    )
    .action(run(runPlan))
}

async function runPlan(context: CommandContext, options: PlanOptions): Promise<number> {
  const { clock, signal, out } = context
  const { update } = await draftUpdate(context, options)
  const snapshot =
    options.snapshot === undefined
      ? await readClusterSnapshot(await context.api(), clock, signal)
      : parseClusterSnapshot(await readText(context, options.snapshot), options.snapshot)
  const planned = { name: update.metadata.name, spec: update.spec }
  const { seed, rehearsals } = options
  const report = await context.runPlan({ snapshot, update: planned, seed, ...(rehearsals && { rehearsals }) }, signal)
  if (options.output === 'table') out.write(planText(report))
  else await writeValue(context, options.output, report)
  if (signal.aborted) return exitCode.interrupted
  return codeOf(report)
}

function codeOf({ verdict }: PlanReport): number {
  return verdict === 'blocked' ? exitCode.blocked : exitCode.done
}
