// What may stand at the end of a half-typed command line, from the tree of commands. Names of the cluster come from whoever asks.

import type { Argument, Command, Option } from 'commander'

export interface Candidate {
  readonly value: string
  readonly about?: string | undefined
}

/** Names that only the cluster, or the kubeconfig, knows. */
export type NameSource = 'nodes' | 'updates' | 'profiles' | 'stores' | 'contexts'

export interface Completion {
  readonly candidates: readonly Candidate[]
  /** Besides, or alone: names of these. */
  readonly sources: readonly NameSource[]
  /** A file or folder may stand there. */
  readonly files: boolean
  /** Only what begins with it is of use. */
  readonly typed: string
  /** What was typed before it in the same word, as `--output=`. */
  readonly prefix: string
}

const nothing = { candidates: [], sources: [], files: false } as const

/** Arguments by command, and options by name, whose values the cluster knows. */
export const argumentSources: Readonly<Record<string, readonly NameSource[]>> = {
  ...Object.fromEntries(
    ['status', 'pause', 'resume', 'cancel', 'approve', 'run-now'].map((name) => [`${name} name`, ['updates']]),
  ),
  'retry name': ['updates'],
  'retry node': ['nodes'],
  'skip name': ['updates'],
  'skip node': ['nodes'],
  'why node|update|profile|namespace/pod': ['nodes', 'updates', 'profiles'],
  'events update|node|profile': ['updates', 'nodes', 'profiles'],
  'logs node': ['nodes'],
  'hold node': ['nodes'],
  'release node': ['nodes'],
}
/** The same argument where a flag before it gives the name another meaning. */
const flaggedSources: Readonly<Record<string, Readonly<Record<string, readonly NameSource[]>>>> = {
  'retry name': { '--profile': ['profiles'] },
}
const optionSources: Readonly<Record<string, readonly NameSource[]>> = {
  '--context': ['contexts'],
  '--profile': ['profiles'],
  '--skip': ['nodes'],
  '--store': ['stores'],
  '--backup-store': ['stores'],
}
const fileNames = /^(file|dir|folder|path)$/

/** `words`: all after the program's name, the last one as far as it is typed. */
export function completionOf(program: Command, words: readonly string[]): Completion {
  const rest = joined(words)
  const typed = rest.pop() ?? ''
  let command = program
  let position = 0
  let open: Option | undefined
  const flags: string[] = []
  for (const word of rest) {
    if (open) {
      open = undefined
      continue
    }
    if (word.startsWith('-')) {
      open = word.includes('=') ? undefined : valueOption(command, word)
      flags.push(word)
      continue
    }
    const child = command.commands.find((one) => one.name() === word || one.aliases().includes(word))
    if (child) command = child
    else position += 1
  }
  if (open) return { ...valuesOf(open), typed, prefix: '' }
  const [, flag, value] = /^(--[\w-]+)=(.*)$/s.exec(typed) ?? []
  const named = flag === undefined ? undefined : valueOption(command, flag)
  if (named && value !== undefined) return { ...valuesOf(named), typed: value, prefix: `${flag}=` }
  if (typed.startsWith('-')) return { ...nothing, candidates: optionsOf(command), typed, prefix: '' }
  if (command.commands.length > 0) {
    // After a word that is no command nothing fits.
    return { ...nothing, candidates: position === 0 ? subcommandsOf(command) : [], typed, prefix: '' }
  }
  const { registeredArguments } = command
  const last = registeredArguments.at(-1)
  const argument = registeredArguments[position] ?? (last?.variadic ? last : undefined)
  return { ...(argument ? argumentValues(command, argument, flags) : nothing), typed, prefix: '' }
}

/** bash takes `--output=json` apart at its `=`. */
function joined(words: readonly string[]): string[] {
  const whole: string[] = []
  let isOpen = false
  for (const word of words) {
    const before = whole.at(-1)
    if (word === '=' && before?.startsWith('--')) {
      whole[whole.length - 1] = `${before}=`
      isOpen = true
    } else if (isOpen) {
      whole[whole.length - 1] = `${before}${word}`
      isOpen = false
    } else whole.push(word)
  }
  return whole
}

function valueOption(command: Command, flag: string): Option | undefined {
  return allOptions(command).find(
    (option) => (option.long === flag || option.short === flag) && (option.required || option.optional),
  )
}

function allOptions(command: Command): readonly Option[] {
  return [...command.options, ...(command.parent ? allOptions(command.parent) : [])]
}

function valuesOf(option: Option): Omit<Completion, 'typed' | 'prefix'> {
  const { argChoices = [], long = '', flags } = option
  const name = /[<[]([^>\]]+)[>\]]/.exec(flags)?.[1] ?? ''
  return {
    candidates: argChoices.map((value) => ({ value })),
    sources: optionSources[long] ?? [],
    files: argChoices.length === 0 && (fileNames.test(name) || long === '--kubeconfig'),
  }
}

function argumentValues(
  command: Command,
  argument: Argument,
  flags: readonly string[],
): Omit<Completion, 'typed' | 'prefix'> {
  const name = argument.name()
  const key = `${command.name()} ${name}`
  const flagged = flags.map((flag) => flaggedSources[key]?.[flag]).find((sources) => sources !== undefined)
  return {
    candidates: (argument.argChoices ?? []).map((value) => ({ value })),
    sources: flagged ?? argumentSources[key] ?? [],
    files: fileNames.test(name),
  }
}

function optionsOf(command: Command): readonly Candidate[] {
  const options = allOptions(command).filter(({ hidden, long }) => !hidden && long)
  return [...options.map(({ long = '', description }) => ({ value: long, about: description })), helpOption]
}

const helpOption: Candidate = { value: '--help', about: 'how to use it' }

function subcommandsOf(command: Command): readonly Candidate[] {
  const shown = command.createHelp().visibleCommands(command)
  return shown.map((one) => ({ value: one.name(), about: one.summary() || one.description() }))
}
