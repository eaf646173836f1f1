// slipway doctor: is this cluster ready for Slipway, and Slipway for this cluster.

import type { Command } from 'commander'
import { objectName } from '../../api/scalars.ts'
import { type Examination, examine, summed } from '../../core/doctor/examine.ts'
import { problem } from '../../core/doctor/finding.ts'
import { asSlipwayError } from '../../core/failure.ts'
import type { CommandContext, RunAction } from '../command-context.ts'
import { examinationLines } from '../doctor/doctor-text.ts'
import { lookAtCluster } from '../doctor/look.ts'
import { exitCode, exitCodeOf } from '../exit-code.ts'
import { type Format, formatOption, writeValue } from '../structured-output.ts'
import { writeLines } from '../table.ts'
import { textOf } from '../usage.ts'

interface DoctorOptions {
  readonly namespace: string
  readonly strict?: boolean
  readonly output: Format
}

export function addDoctor(parent: Command, run: RunAction): void {
  parent
    .command('doctor')
    .description(
      'Looks whether Slipway is whole here (kinds, operator, agents, fences, policy, backups) and whether the cluster is ready for an update (nodes, budgets of pods, webhooks, certificates, clocks, other tools). Reading rights suffice, nothing is changed. Before Slipway is installed it says what installing it would meet.',
    )
    .option(
      '--namespace <name>',
      "the operator's namespace",
      textOf(objectName, 'It must be a namespace name.'),
      'slipway-system',
    )
    .option('--strict', 'exit with 1 also when there are only warnings, or something could not be looked at')
    .addOption(formatOption('table', 'json', 'yaml'))
    .addHelpText(
      'after',
      `
Examples:
  slipway doctor
  slipway doctor --quiet                      only what is not fine
  slipway doctor --strict --output json

Exit codes: 0 ready, 1 only warnings and --strict, 3 a problem needs a person,
            4 cannot reach the API`,
    )
    .action(run(runDoctor))
}

async function runDoctor(context: CommandContext, options: DoctorOptions): Promise<number> {
  const { examination, code } = await examined(context, options)
  if (options.output !== 'table') await writeValue(context, options.output, examination)
  else writeLines(context.out, examinationLines(examination, context.out, context.options.quiet ?? false))
  return code
}

/** A server that nobody reaches is a finding like any other: whoever reads the output as data gets data. */
async function examined(
  context: CommandContext,
  { namespace, strict = false }: DoctorOptions,
): Promise<{ readonly examination: Examination; readonly code: number }> {
  try {
    const examination = examine(await lookAtCluster(context, await context.api(), namespace))
    const { problems, warnings, unknown } = examination.summary
    if (problems > 0) return { examination, code: exitCode.blocked }
    return { examination, code: strict && warnings + unknown > 0 ? exitCode.failed : exitCode.done }
  } catch (error) {
    const code = exitCodeOf(error)
    if (code !== exitCode.unreachable || context.signal.aborted) throw error
    const { code: word, message, nextStep = 'try again' } = asSlipwayError(error)
    return { examination: summed([problem('Api', word, message, nextStep)]), code }
  }
}
