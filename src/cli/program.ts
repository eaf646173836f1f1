// The command line put together: global options, one file a command, and the way from a failure to an exit code.

import { Command, CommanderError } from 'commander'
import { contextOf, type RunAction } from './command-context.ts'
import { addAgent } from './commands/agent.ts'
import { addBundle } from './commands/bundle.ts'
import { addDemo } from './commands/demo.ts'
import { addHold } from './commands/hold.ts'
import { addHost } from './commands/host.ts'
import { addInstall } from './commands/install.ts'
import { addLogs } from './commands/logs.ts'
import { addNodes } from './commands/nodes.ts'
import { addOperator } from './commands/operator.ts'
import { addPlan } from './commands/plan.ts'
import { addRelease } from './commands/release.ts'
import { addSim } from './commands/sim-agents.ts'
import { addSimulate } from './commands/simulate.ts'
import { addSnapshot } from './commands/snapshot.ts'
import { addStatus } from './commands/status.ts'
import { addSteering } from './commands/steer.ts'
import { addStart, addStop } from './commands/stop.ts'
import { addUpdate } from './commands/update.ts'
import { addWhy } from './commands/why.ts'
import type { CliDependencies } from './dependencies.ts'
import { exitCode, exitCodeOf, printError } from './exit-code.ts'

/** Runs one command line (without the program's own name) and resolves to the exit code; never rejects. */
export async function runCli(argv: readonly string[], deps: CliDependencies): Promise<number> {
  let code: number = exitCode.done
  const program = makeProgram(deps, (ended) => {
    code = ended
  })
  try {
    await program.parseAsync(argv, { from: 'user' })
    return code
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCode.done : exitCode.usage
    if (deps.signal.aborted) return exitCode.interrupted
    printError(error, deps.err, program.opts<{ debug?: boolean }>().debug ?? false)
    return exitCodeOf(error)
  }
}

/** `finish` is told the exit code of the command that ran. */
function makeProgram(deps: CliDependencies, finish: (exitCode: number) => void = () => undefined): Command {
  const program = new Command('slipway')
  const run: RunAction =
    (action) =>
    async (...values) => {
      const command = values.at(-1)
      finish(await action(contextOf(deps, command instanceof Command ? command : program), ...values))
    }
  program
    .summary('keeps the machines under Kubernetes up to date')
    .description(
      'Keeps the machines under Kubernetes up to date, safely: one budget for all of it, and every step survives a crash.',
    )
    .version(deps.version, '-V, --version', 'the version of this program')
    .option('--kubeconfig <file>', 'how to reach the cluster (default: $KUBECONFIG, ~/.kube/config, or the pod’s own)')
    .option('--context <name>', 'which context of the kubeconfig')
    .option('--no-color', 'no colours (also: NO_COLOR in the environment)')
    .option('--quiet', 'only answers and errors, no progress')
    .option('--debug', 'with errors, also where they came from')
    .addHelpText('after', rootHelp)
    .helpCommand('help [command]', 'how to use a command')
    .configureHelp({ showGlobalOptions: true, sortSubcommands: false })
  inherited(program, deps)
  for (const add of commands) add(program, run)
  for (const command of everyCommand(program)) inherited(command, deps)
  return program
}

const rootHelp = `
Examples:
  slipway demo                                watch an upgrade with faults, without a cluster
  slipway update --kubernetes v1.36.3         upgrade this cluster and follow it
  slipway why w3                              what node w3 waits for, and what to do

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 blocked or needs a person, 4 cannot reach the API`

const commands = [
  addDemo,
  addPlan,
  addUpdate,
  addStatus,
  addSteering,
  addNodes,
  addWhy,
  addLogs,
  addHold,
  addRelease,
  addStop,
  addStart,
  addHost,
  addBundle,
  addInstall,
  addSnapshot,
  addSimulate,
  addSim,
  addOperator,
  addAgent,
]

function everyCommand(command: Command): readonly Command[] {
  return command.commands.flatMap((child) => [child, ...everyCommand(child)])
}

/** Settings that commander keeps per command. */
function inherited(command: Command, { out, err }: CliDependencies): void {
  command
    .exitOverride()
    .helpOption('-h, --help', 'how to use it')
    .showSuggestionAfterError(true)
    .showHelpAfterError(`next: ${pathOf(command)} --help`)
    .configureOutput({
      writeOut: (text) => out.write(text),
      writeErr: (text) => err.write(text),
      getOutHelpWidth: () => Math.min(120, Math.max(60, out.columns)),
      getErrHelpWidth: () => Math.min(120, Math.max(60, err.columns)),
      getOutHasColors: () => out.color,
      getErrHasColors: () => err.color,
    })
}

function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name()
}
