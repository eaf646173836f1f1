// The reference of the command line, from the tree that commander has.

import type { Argument, Command, Option } from 'commander'
import type { Terminal } from '../../cli/dependencies.ts'
import { everyCommand, makeProgram, pathOf } from '../../cli/program.ts'

const silent: Terminal = { write: () => undefined, columns: 100, rows: 24, isTTY: false, color: false }

/** The whole tree, with nothing behind it. */
export function commandTree(): Promise<Command> {
  return makeProgram('all', { out: silent, err: silent, version: '', program: 'slipway' }, () => async () => undefined)
}

export async function renderCommands(): Promise<string> {
  const program = await commandTree()
  const commands = everyCommand(program).filter((command) => !isHidden(command) && command.name() !== 'help')
  const contents = commands
    .filter(({ parent }) => parent === program)
    .map((command) => `| [\`${pathOf(command)}\`](#${anchor(pathOf(command))}) | ${cell(command.summary())} |`)
  const sections = commands.map(section)
  return [
    head,
    `| command | |\n|---|---|\n${contents.join('\n')}\n`,
    `## Options of every command\n\n${optionsTable(program.options)}\n`,
    ...sections,
  ].join('\n')
}

const head = `<!-- Generated from src/cli by make reference; do not edit. -->
# Commands

Called as \`kubectl slipway\` where a link to the program named \`kubectl-slipway\` is on the PATH.

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 blocked or needs a person, 4 cannot reach the API, 130 stopped by Ctrl-C. An error is two lines
on standard error: what happened with its code in brackets, and \`next:\` with what to do.
`

function section(command: Command): string {
  const { registeredArguments, options } = command
  const usage = command.createHelp().commandUsage(command)
  const parts = [
    `## ${pathOf(command)}\n`,
    `\`${usage}\`\n`,
    `${command.description()}\n`,
    ...(registeredArguments.length > 0 ? [`${argumentsTable(registeredArguments)}\n`] : []),
    ...(options.length > 0 ? [`${optionsTable(options)}\n`] : []),
    ...afterText(command),
  ]
  return parts.join('\n')
}

/** What stands below the options in its help: examples, and more. */
export function helpAfter(command: Command): string {
  const written: string[] = []
  command.configureOutput({ writeOut: (text) => written.push(text) })
  command.outputHelp()
  // The help itself comes in one piece, first.
  return written.slice(1).join('').trim()
}

/** The lines below a title are what a terminal shows as they are. */
function afterText(command: Command): readonly string[] {
  const text = helpAfter(command)
  if (text === '') return []
  return text.split('\n\n').map((block) => {
    const [title = '', ...lines] = block.split('\n')
    if (!title.endsWith(':')) return `${block}\n`
    const shown = lines.map((line) => line.replace(/^ {2}/, '')).join('\n')
    return `${title}\n\n\`\`\`\n${shown}\n\`\`\`\n`
  })
}

function argumentsTable(list: readonly Argument[]): string {
  const rows = list.map((argument) => `| \`${cell(argument.name())}\` | ${cell(argument.description)} |`)
  return `| argument | |\n|---|---|\n${rows.join('\n')}`
}

function optionsTable(list: readonly Option[]): string {
  const rows = list
    .filter(({ hidden }) => !hidden)
    .map((option) => `| \`${option.flags}\` | ${cell(optionText(option))} |`)
  return `| option | |\n|---|---|\n${rows.join('\n')}`
}

function optionText({
  description,
  argChoices,
  defaultValue,
  defaultValueDescription,
  negate,
  mandatory,
}: Option): string {
  const notes = [
    ...(argChoices ? [`one of ${argChoices.join(', ')}`] : []),
    ...(mandatory ? ['required'] : []),
    ...(defaultValue === undefined || negate ? [] : [`default ${defaultValueDescription ?? defaultValue}`]),
  ]
  return notes.length === 0 ? description : `${description} (${notes.join('; ')})`
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ').replaceAll('<', '&lt;')
}

function anchor(path: string): string {
  return path.replaceAll(' ', '-')
}

function isHidden(command: Command): boolean {
  return command.parent !== null && !command.parent.createHelp().visibleCommands(command.parent).includes(command)
}
