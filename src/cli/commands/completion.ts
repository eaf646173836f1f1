// slipway completion: the script that makes Tab work in a shell.

import { Argument, type Command } from 'commander'
import type { CommandContext, RunAction } from '../command-context.ts'
import { completionScripts, type Shell, shells } from '../completion/scripts.ts'
import { exitCode } from '../exit-code.ts'

export function addCompletion(parent: Command, run: RunAction): void {
  parent
    .command('completion')
    .description(
      'Prints a script that completes commands, options, and the names of updates, nodes, stores and contexts. For kubectl slipway put a second link to the program on the PATH, named kubectl_complete-slipway.',
    )
    .addArgument(new Argument('<shell>', 'which one').choices(shells))
    .addHelpText(
      'after',
      `
Examples:
  source <(slipway completion bash)
  slipway completion bash > ~/.local/share/bash-completion/completions/slipway
  slipway completion zsh > ~/.zsh/completions/_slipway
  slipway completion fish > ~/.config/fish/completions/slipway.fish`,
    )
    .action(run(printScript))
}

async function printScript({ out }: CommandContext, shell: Shell): Promise<number> {
  out.write(completionScripts[shell])
  return exitCode.done
}
