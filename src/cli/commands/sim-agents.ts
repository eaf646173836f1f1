// slipway sim agents: the real agent code over pretend hosts, a rehearsal on any test cluster.

import { type Command, InvalidArgumentError } from 'commander'
import { durationText, kubernetesVersion } from '../../api/scalars.ts'
import { parseDuration } from '../../core/duration.ts'
import { selectorText } from '../../core/label-selector.ts'
import { parseSelector } from '../../core/selector-text.ts'
import type { CommandContext, RunAction } from '../command-context.ts'
import { exitCode } from '../exit-code.ts'
import { textOf } from '../usage.ts'

interface SimAgentsCommandOptions {
  readonly selector?: string
  readonly work: string
  readonly state: string
  readonly offers?: readonly string[]
  readonly kubelets?: boolean
}

export function addSim(parent: Command, run: RunAction): void {
  const sim = parent
    .command('sim')
    .description('Parts of the simulator that run against a real API server.')
    .addHelpText('after', '\nExample:\n  slipway sim agents --state /tmp/agents')
  sim
    .command('agents')
    .summary('agents over pretend hosts, for a rehearsal on a test cluster')
    .description(
      'Runs the real agent code over pretend hosts for every matching node, in one process, until it is stopped. Nothing on a machine is changed; journals and pretend disks live in the state folder and survive restarts.',
    )
    .option('-l, --selector <labels>', 'only nodes with these labels')
    .option(
      '--work <duration>',
      'how long the pretend work on a node takes',
      textOf(durationText, 'It must be a duration such as 2s.'),
      '2s',
    )
    .requiredOption('--state <dir>', 'where journals and pretend disks live')
    .option('--offers <versions>', 'Kubernetes versions the pretend hosts can install, joined by commas', parseVersions)
    .option('--kubelets', 'also play the kubelets of these nodes')
    .addHelpText(
      'after',
      `
Examples:
  slipway sim agents --kubeconfig test.kubeconfig --selector pool=a --work 2s --state /tmp/agents
  slipway sim agents --state /tmp/agents --offers v1.36.3,v1.37.0 --kubelets`,
    )
    .action(run(runSimAgentsCommand))
}

async function runSimAgentsCommand(context: CommandContext, options: SimAgentsCommandOptions): Promise<number> {
  const { kubeconfig, context: kubeContext } = context.options
  await context.runSimAgents(
    {
      kubeconfig,
      context: kubeContext,
      selector: options.selector === undefined ? undefined : selectorText(parseSelector(options.selector)),
      workMs: parseDuration(options.work),
      stateDir: options.state,
      offers: options.offers,
      kubelets: options.kubelets ?? false,
    },
    context.signal,
  )
  return exitCode.done
}

function parseVersions(text: string): readonly string[] {
  const versions = text.split(',').map((version) => version.trim())
  if (versions.every((version) => kubernetesVersion.safeParse(version).success)) return versions
  throw new InvalidArgumentError('It must be versions such as v1.36.3, joined by commas.')
}
