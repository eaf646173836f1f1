// The command line put together: global options, one file a command, and the way from a failure to an exit code.

import { Command, CommanderError } from 'commander'
import { SlipwayError } from '../api/slipway-error.ts'
import { spoken } from './called-as.ts'
import { contextOf, type RunAction } from './command-context.ts'
import { commandGroups, type ListedCommands } from './command-list.ts'
import type { CliDependencies } from './dependencies.ts'
import { exitCode, exitCodeOf, printError } from './exit-code.ts'

/** Runs one command line (without the program's own name) and resolves to the exit code; never rejects. */
export async function runCli(argv: readonly string[], deps: CliDependencies): Promise<number> {
  let code: number = exitCode.done
  let program: Command | undefined
  const run: RunAction =
    (action) =>
    async (...values) => {
      code = await action(contextOf(deps, commandAmong(values)), ...values)
    }
  try {
    program = await makeProgram(argv, deps, run)
    await program.parseAsync(asked(argv, program), { from: 'user' })
    return code
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCode.done : exitCode.usage
    if (deps.signal.aborted) return exitCode.interrupted
    const { err, program: calledAs } = deps
    const debug = program?.opts<{ debug?: boolean }>().debug ?? false
    await printError(error, { write: (text) => err.write(spoken(text, calledAs)) }, debug)
    return exitCodeOf(error)
  }
}

/** `help backup list` is `backup list --help`; of a command that is not there it says so, as for the command itself. */
function asked(argv: readonly string[], program: Command): readonly string[] {
  const [first, ...words] = argv
  if (first !== 'help' || words[0] === undefined) return argv
  return program.commands.some((command) => command.name() === words[0]) ? [...words, '--help'] : words
}

/** Commander passes the command last. */
function commandAmong(values: readonly unknown[]): Command {
  const command = values.at(-1)
  if (command instanceof Command) return command
  throw new SlipwayError('Internal', 'an action was called without its command')
}

/** What it takes to make the tree of commands. */
export type ProgramParts = Pick<CliDependencies, 'out' | 'err' | 'version' | 'program'>

/**
 * The commands that the words may mean, whole; the others by name and summary alone. `'all'` loads every one of them.
 * `run` wraps what each of them does.
 */
export async function makeProgram(
  words: readonly string[] | 'all',
  parts: ProgramParts,
  run: RunAction,
): Promise<Command> {
  const program = new Command(parts.program)
  program
    .summary('keeps the machines under Kubernetes up to date')
    .description(
      'Keeps the machines under Kubernetes up to date, safely: one budget for all of it, and every step survives a crash.',
    )
    .version(parts.version, '-V, --version', 'the version of this program')
    .option('--kubeconfig <file>', 'how to reach the cluster (default: $KUBECONFIG, ~/.kube/config, or the pod’s own)')
    .option('--context <name>', 'which context of the kubeconfig')
    .option('--no-color', 'no colours (also: NO_COLOR in the environment)')
    .option('--quiet', 'only answers and errors, no progress')
    .option('--debug', 'with errors, also where they came from')
    .addHelpText('after', rootHelp)
    .addHelpCommand(
      new Command('help').argument('[command]').summary('how to use a command').helpGroup('Roles and shell:'),
    )
    .configureHelp({ showGlobalOptions: true, sortSubcommands: false })
  inherited(program, parts)
  for (const { title, members } of commandGroups) {
    for (const listed of members) await addListed(program, listed, title, words, run)
  }
  for (const command of everyCommand(program)) {
    inherited(command, parts)
    // Theirs is --help; commander would show a second list for it.
    command.helpCommand(false)
  }
  return program
}

const rootHelp = `
Examples:
  slipway demo                          see an upgrade with faults, in memory
  slipway console                       the same for this cluster, in a browser
  slipway update --kubernetes v1.36.3   upgrade this cluster and follow it
  slipway why w3                        what node w3 waits for, and what to do

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 blocked or needs a person,
            4 cannot reach the API, 130 stopped by Ctrl-C`

async function addListed(
  program: Command,
  { commands, hidden = false, load }: ListedCommands,
  group: string,
  words: readonly string[] | 'all',
  run: RunAction,
): Promise<void> {
  const isMeant = words === 'all' || words.some((word) => Object.hasOwn(commands, word))
  if (isMeant) (await load())(program, run)
  else for (const name of Object.keys(commands)) program.command(name, { hidden })
  for (const [name, summary] of Object.entries(commands)) {
    const command = program.commands.find((one) => one.name() === name)
    command?.summary(summary).helpGroup(group)
  }
}

export function everyCommand(command: Command): readonly Command[] {
  return command.commands.flatMap((child) => [child, ...everyCommand(child)])
}

/** Settings that commander keeps per command. */
function inherited(command: Command, { out, err, program }: ProgramParts): void {
  command
    .exitOverride()
    .helpOption('-h, --help', 'how to use it')
    .showSuggestionAfterError(true)
    .showHelpAfterError(`next: ${pathOf(command)} --help`)
    .configureOutput({
      writeOut: (text) => out.write(spoken(text, program)),
      writeErr: (text) => err.write(spoken(text, program)),
      outputError: (text, write) => write(text.replace(/^error: .*$/m, '$& [Usage]')),
      getOutHelpWidth: () => Math.min(120, Math.max(60, out.columns)),
      getErrHelpWidth: () => Math.min(120, Math.max(60, err.columns)),
      getOutHasColors: () => out.color,
      getErrHasColors: () => err.color,
    })
}

export function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name()
}
