// slipway __complete: asked by the scripts of `slipway completion` at every Tab. One candidate a line, a tab, what it is.

import type { Command } from 'commander'
import type { CommandContext, RunAction } from '../command-context.ts'
import { completionOf } from '../completion/candidates.ts'
import { knownNames } from '../completion/known-names.ts'
import { exitCode } from '../exit-code.ts'
import { harmless } from '../table.ts'

interface CompleteOptions {
  /** As kubectl asks its plug-ins: the last line is a colon and a number. */
  readonly kubectl?: boolean
}

/** In the words of kubectl: the shell may offer files, or must not. */
const filesToo = ':0'
const noFiles = ':4'
/** In ours. */
const ourFiles = ':files'

export function addComplete(parent: Command, run: RunAction): void {
  parent
    .command('__complete', { hidden: true })
    .description('Prints what may stand at the end of a command line; for the scripts of slipway completion.')
    .argument('[word...]', 'what was typed after the program’s name, the last word as far as it goes')
    .option('--kubectl', 'answer as kubectl asks its plug-ins')
    .addHelpText('after', '\nExample:\n  slipway __complete -- status to-')
    .action(
      run((context, words: readonly string[], options: CompleteOptions) => complete(context, parent, words, options)),
    )
}

async function complete(
  context: CommandContext,
  program: Command,
  words: readonly string[],
  { kubectl = false }: CompleteOptions,
): Promise<number> {
  const { candidates, sources, files, typed, prefix } = completionOf(program, words)
  // The cluster that is meant may be named on the half-typed line.
  const named = { ...context, options: { ...context.options, ...connectionIn(words) } }
  const { kubeconfig, context: kubeContext } = named.options
  const asked = { ...named, api: () => context.connect({ kubeconfig, context: kubeContext }) }
  const names = sources.length === 0 ? [] : await knownNames(asked, sources)
  const fitting = [...candidates, ...names].filter(({ value }) => value.startsWith(typed))
  for (const { value, about } of fitting) {
    const said = about === undefined || about === '' ? '' : `\t${harmless(about)}`
    context.out.write(`${prefix}${value}${said}\n`)
  }
  if (kubectl) context.out.write(`${files ? filesToo : noFiles}\n`)
  else if (files) context.out.write(`${ourFiles}\n`)
  return exitCode.done
}

function connectionIn(words: readonly string[]): { readonly kubeconfig?: string; readonly context?: string } {
  const given = (flag: string) => {
    const at = words.findIndex((word) => word === flag || word.startsWith(`${flag}=`))
    const word = at < 0 || at >= words.length - 1 ? undefined : words[at]
    return word?.includes('=') ? word.slice(flag.length + 1) : word && words[at + 1]
  }
  const [kubeconfig, context] = [given('--kubeconfig'), given('--context')]
  return { ...(kubeconfig !== undefined && { kubeconfig }), ...(context !== undefined && { context }) }
}
