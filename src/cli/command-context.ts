// What every command gets: the dependencies as the global options shape them, and one way to say how it ended.

import type { Command } from 'commander'
import type { KubeApi } from '../ports/kube-api.ts'
import type { CliDependencies, Connection, Terminal } from './dependencies.ts'

export interface GlobalOptions extends Connection {
  readonly color: boolean
  readonly quiet?: boolean
  readonly debug?: boolean
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
  const options: GlobalOptions = command.optsWithGlobals()
  const { kubeconfig, context } = options
  let connected: Promise<KubeApi> | undefined
  return {
    ...deps,
    options,
    out: shaped(deps.out, options),
    err: shaped(deps.err, options),
    api: () => {
      connected ??= deps.connect({ kubeconfig, context })
      return connected
    },
  }
}

/** A window's size is read afresh each time, so the terminal is wrapped, not copied. */
function shaped(terminal: Terminal, { color }: GlobalOptions): Terminal {
  return {
    write: (text) => terminal.write(text),
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
