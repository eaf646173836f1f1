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
  const held = new Set(
    grubVariables.flatMap((variable) => settingsOf(text, variable).flatMap(({ words }) => words ?? [])),
  )
  const toAdd = add.filter((word) => !held.has(word) || remove.includes(word))
  const [first, second] = grubVariables
  return withChange(withChange(text, first, { add: toAdd, remove }), second, { add: [], remove })
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

/** One assignment to a variable of that file. */
interface Setting {
  readonly at: number
  readonly length: number
  /** Undefined: its value is of several parts, which is not read here. */
  readonly words: readonly string[] | undefined
  readonly quote: string
  readonly comment: string
}

/** The file is read by a shell: a value stands in double quotes, in single ones, or alone, and a comment may follow. */
const assignment = (variable: string) =>
  new RegExp(
    `^[ \\t]*${variable}=(?:"((?:[^"\\\\]|\\\\[^])*)"|'([^']*)'|([^\\s"'\\\\#$;]*))((?:[ \\t]+#.*)?[ \\t]*)$`,
    'my',
  )

/** Those that count: the last one, and before it as many as it and others add to. */
function settingsOf(text: string, variable: string): readonly Setting[] {
  const all = [...text.matchAll(new RegExp(`^[ \\t]*${variable}=`, 'gm'))].map(({ index }) =>
    settingAt(text, variable, index),
  )
  const own = [`$${variable}`, `\${${variable}}`]
  const first = all.findLastIndex(({ words }) => !words?.some((word) => own.includes(word)))
  return first < 0 ? all : all.slice(first)
}

function settingAt(text: string, variable: string, at: number): Setting {
  const pattern = assignment(variable)
  pattern.lastIndex = at
  const found = pattern.exec(text)
  if (!found) return { at, length: 0, words: undefined, quote: '', comment: '' }
  const [whole, double, single, bare, comment = ''] = found
  // A line that goes on is one line to the shell.
  const words = splitKernelArguments(double?.replaceAll('\\\n', '') ?? single ?? bare ?? '')
  // Between single quotes a shell takes everything as it is, so it must stay there.
  return { at, length: whole.length, words, quote: single === undefined ? '"' : "'", comment }
}

/** A value that is not read here is left as it is, and added to by a line at the end. */
function withChange(text: string, variable: string, { add, remove }: KernelArgumentChange): string {
  const settings = settingsOf(text, variable)
  const last = settings.at(-1)
  let changed = text
  for (const setting of settings.toReversed()) {
    const { at, length, words, quote, comment } = setting
    const after = words && changedArguments(words, { add: setting === last ? add : [], remove }).join(' ')
    if (after === undefined || after === words?.join(' ')) continue
    changed = `${changed.slice(0, at)}${variable}=${quote}${after}${quote}${comment}${changed.slice(at + length)}`
  }
  if (add.length === 0 || last?.words) return changed
  const before = last ? `$${variable} ` : ''
  return `${changed}${changed === '' || changed.endsWith('\n') ? '' : '\n'}${variable}="${before}${add.join(' ')}"\n`
}
