// What every command gets: the dependencies as the global options shape them, and one way to say how it ended.

import type { Command } from 'commander'
import type { KubeApi } from '../ports/kube-api.ts'
import { spoken } from './called-as.ts'
import type { CliDependencies, Connection, Terminal } from './dependencies.ts'
import { printableApi } from './printable.ts'

export interface GlobalOptions extends Connection {
  readonly color: boolean
  readonly quiet?: boolean
  readonly debug?: boolean
  /** Where a command has a choice of formats. */
  readonly output?: string
}

interface PrintOptions extends GlobalOptions {
  readonly print?: boolean
  readonly printUnit?: boolean
  readonly apply?: boolean
}

export interface CommandContext extends CliDependencies {
  readonly options: GlobalOptions
  /** Connects on first use. */
  api(): Promise<KubeApi>
}

/** Wraps an action that resolves to the exit code as one that commander can call (it passes the command last). */
export type RunAction = <Values extends readonly unknown[]>(
  action: (context: CommandContext, ...values: Values) => Promise<number>,
) => (...values: Values) => Promise<void>

export function contextOf(deps: CliDependencies, command: Command): CommandContext {
  const options: PrintOptions = command.optsWithGlobals()
  const { kubeconfig, context } = options
  const isData = printsData(command, options)
  const inWords = (text: string) => spoken(text, deps.program)
  let connected: Promise<KubeApi> | undefined
  return {
    ...deps,
    options,
    out: shaped(deps.out, options, isData ? asWritten : inWords),
    err: shaped(deps.err, options, inWords),
    api: () => {
      connected ??= deps.connect({ kubeconfig, context }).then(printableApi)
      return connected
    },
  }
}

const asWritten = (text: string) => text

/** Commands whose output is for a file or another program, whatever its format. */
const dataCommands: ReadonlySet<string> = new Set(['completion', 'logs', 'snapshot'])

/** Data is the same whatever the program is called. */
function printsData(command: Command, { output, print, printUnit, apply }: PrintOptions): boolean {
  if (output !== undefined) return output !== 'table'
  if (command.name() === 'import') return apply !== true
  return print === true || printUnit === true || dataCommands.has(command.name())
}

/** A window's size is read afresh each time, so the terminal is wrapped, not copied. */
function shaped(terminal: Terminal, { color }: GlobalOptions, worded: (text: string) => string): Terminal {
  return {
    write: (text) => terminal.write(worded(text)),
    get columns() {
      return terminal.columns
    },
    get rows() {
      return terminal.rows
    },
    isTTY: terminal.isTTY,
    color: terminal.color && color,
  }
}
