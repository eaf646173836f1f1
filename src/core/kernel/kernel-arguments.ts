// A kernel command line as a list of words, and what is to be done to it. A word is compared as a whole: `console=tty0` and
// `console=ttyS0` are two arguments.

export interface KernelArgumentChange {
  readonly add: readonly string[]
  readonly remove: readonly string[]
}

/** Blanks inside double quotes belong to the word, as the kernel reads them. */
export function splitKernelArguments(line: string): readonly string[] {
  return line.match(/(?:[^\s"]|"[^"]*")+/g) ?? []
}

/** What is still to be done; both lists empty when nothing is. */
export function missingKernelArguments(
  current: readonly string[],
  { add, remove }: KernelArgumentChange,
): KernelArgumentChange {
  return {
    add: [...new Set(add)].filter((word) => !current.includes(word)),
    remove: [...new Set(remove)].filter((word) => current.includes(word)),
  }
}

/** What no boot loader's settings can carry without quoting of their own. */
export function isPlainArgument(word: string): boolean {
  return /^[^\s"'`$\\]+$/.test(word)
}

export function changedArguments(current: readonly string[], { add, remove }: KernelArgumentChange): readonly string[] {
  const kept = current.filter((word) => !remove.includes(word))
  return [...kept, ...add.filter((word, index) => !kept.includes(word) && add.indexOf(word) === index)]
}

/** The variables of /etc/default/grub that reach the command line; what is added goes into the first. */
const grubVariables = ['GRUB_CMDLINE_LINUX', 'GRUB_CMDLINE_LINUX_DEFAULT'] as const

/** The text of /etc/default/grub with the change made; everything else in it stays as it is. */
export function changedGrubDefaults(text: string, { add, remove }: KernelArgumentChange): string {
  const held = new Set<string>(grubVariables.flatMap((variable) => wordsOf(text, variable)))
  const toAdd = add.filter((word) => !held.has(word) || remove.includes(word))
  const [first, second] = grubVariables
  return withValue(
    withValue(text, first, (words) => changedArguments(words, { add: toAdd, remove })),
    second,
    (words) => changedArguments(words, { add: [], remove }),
  )
}

/** The arguments of the first entry of a grub.cfg, which is what boots by default; undefined where it has none. */
export function grubEntryArguments(config: string): readonly string[] | undefined {
  const line = /^\s*linux(?:efi|16)?\s+\S+[ \t]*(.*)$/m.exec(config)?.[1]
  return line === undefined ? undefined : splitKernelArguments(line)
}

/** `args="…"` of `grubby --info=DEFAULT`. */
export function grubbyArguments(info: string): readonly string[] | undefined {
  const line = /^args="(.*)"$/m.exec(info)?.[1]
  return line === undefined ? undefined : splitKernelArguments(line)
}

/**
 * The file is read by a shell: a value stands in double quotes, in single ones, or alone, and a comment may follow. Anything else,
 * as of several parts, is not read here.
 */
const assignment = (variable: string) =>
  new RegExp(
    `^[ \\t]*${variable}=(?:"((?:[^"\\\\]|\\\\[^])*)"|'([^']*)'|([^\\s"'\\\\#$;]*))((?:[ \\t]+#.*)?[ \\t]*)$`,
    'm',
  )

function wordsOf(text: string, variable: string): readonly string[] {
  const [, double, single, bare] = assignment(variable).exec(text) ?? []
  // A line that goes on is one line to the shell.
  return splitKernelArguments(double?.replaceAll('\\\n', '') ?? single ?? bare ?? '')
}

/** A value that is not read here is left as it is, and added to by a line at the end. */
function withValue(text: string, variable: string, change: (words: readonly string[]) => readonly string[]): string {
  const words = wordsOf(text, variable)
  const changed = change(words).join(' ')
  if (changed === words.join(' ')) return text
  const found = assignment(variable).exec(text)
  if (!found) {
    const before = new RegExp(`^[ \\t]*${variable}=`, 'm').test(text) ? `$${variable} ` : ''
    return `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${variable}="${before}${changed}"\n`
  }
  const [, , single, , comment = ''] = found
  // Between single quotes a shell takes everything as it is, so it must stay there.
  const quote = single === undefined ? '"' : "'"
  return text.replace(assignment(variable), () => `${variable}=${quote}${changed}${quote}${comment}`)
}
