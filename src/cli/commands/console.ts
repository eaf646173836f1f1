// slipway console: the cluster in a browser, with the rights of whoever starts it.

import type { Command } from 'commander'
import type { CommandContext, RunAction } from '../command-context.ts'
import { exitCode } from '../exit-code.ts'
import { wholeNumber } from '../usage.ts'

interface ConsoleCommandOptions {
  readonly port: number
  readonly open?: boolean
  readonly namespace: string
}

export function addConsole(parent: Command, run: RunAction): void {
  parent
    .command('console')
    .summary('this cluster in a browser: fleet, updates, what waits and why')
    .description(
      'Serves the console on 127.0.0.1 until Ctrl-C, with your kubeconfig: whatever you do in it is an ordinary write of yours. Only whoever has the printed URL can use it; its token is new each time.',
    )
    .option('--port <number>', 'where it listens; 0 = any that is free', wholeNumber(0, 65_535), 0)
    .option('--open', 'open it in your browser')
    .option('--namespace <name>', "the operator's namespace", 'slipway-system')
    .addHelpText(
      'after',
      `
Examples:
  slipway console
  slipway console --open --context production
  slipway console --port 8080   then, afar: ssh -L 8080:127.0.0.1:8080 HOST`,
    )
    .action(run(runConsoleCommand))
}

async function runConsoleCommand(context: CommandContext, options: ConsoleCommandOptions): Promise<number> {
  const { out, err, signal } = context
  const { kubeconfig, context: name } = context.options
  const { port, namespace } = options
  const onReady = (url: string) => {
    out.write(`console: ${url}\nCtrl-C ends it\n`)
    if (!options.open) return
    context.openBrowser(url).then(
      (isOpen) => isOpen || err.write('no browser was found; open the URL yourself\n'),
      () => err.write('the browser did not start; open the URL yourself\n'),
    )
  }
  await context.runConsole({ kubeconfig, context: name, port, namespace, onReady }, signal)
  return exitCode.done
}
