// Every command can be learnt from its own help, and what the help shows can be typed.

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { reasonCatalogue } from '../../src/api/reason.ts'
import { argumentSources } from '../../src/cli/completion/candidates.ts'
import { everyCommand, makeProgram, pathOf } from '../../src/cli/program.ts'
import { shellWords } from '../../src/core/import/shell-words.ts'
import { commandTree, helpAfter } from '../../src/main/reference/render-commands.ts'
import { faultKinds } from '../../src/sim/fault-plan.ts'

const tree = await commandTree()
const commands = everyCommand(tree).filter((command) => command.name() !== 'help')
const named = commands.map((command) => ({ path: pathOf(command), command }))

describe('the help of each command', () => {
  test.each(named)('$path has a summary, a description and an example of its own', ({ path, command }) => {
    expect(command.summary() || command.name().startsWith('__')).toBeTruthy()
    expect(command.description()).toMatch(/\.$/)
    // Whoever looks has a width of their own.
    expect(command.description()).not.toContain('\n')
    const own = examplesOf(command).filter((line) => `${line} `.includes(`${path} `))
    expect(own, `examples of ${path}`).not.toEqual([])
  })

  test.each([...named, { path: 'slipway', command: tree }])('$path fits on a terminal of 80 columns', ({ command }) => {
    // A command is typed whole; what is said of it is not cut for whoever has a small window.
    const said = helpAfter(command)
      .split('\n')
      .filter((line) => !/^ {2}slipway (?!.* {3})/.test(line))
    expect(said.filter((line) => line.length > 80)).toEqual([])
  })

  test.each(named)('$path says what each option is for', ({ command }) => {
    expect(command.options.filter(({ description }) => description === '').map(({ flags }) => flags)).toEqual([])
  })
})

describe('what the help shows can be typed', () => {
  const lines = [tree, ...commands].flatMap((command) => examplesOf(command).flatMap(calls))

  test.each([...new Set(lines)])('%s', async (line) => {
    const ran = await typed(line)
    expect(ran).toHaveLength(1)
    expect(line.startsWith(ran[0] ?? '')).toBe(true)
  })

  test('and names faults that there are', () => {
    const named = lines.flatMap((line) => /--faults (\S+)/.exec(line)?.[1]?.split(',') ?? [])
    expect(named).not.toEqual([])
    expect(named.filter((name) => name !== 'all' && !faultKinds.some((kind) => kind === name))).toEqual([])
  })
})

describe('what the pages show can be typed', () => {
  const shown = pages().flatMap(({ path, text }) =>
    shellLines(text)
      .flatMap(calls)
      .map((line) => ({ path, line })),
  )

  test('and there is something to type', () => {
    expect(shown.length).toBeGreaterThan(30)
  })

  test.each(shown.filter(({ line }) => !/[…[\]<]/.test(line)))('$path: $line', async ({ line }) => {
    await typed(line)
  })
})

describe('what reasons advise can be typed', () => {
  const lines = [...new Set(Object.values(reasonCatalogue).flatMap(advised))]

  test('and there is some advice', () => {
    expect(lines.length).toBeGreaterThan(5)
  })

  test.each(lines)('%s', async (line) => {
    expect(await typed(line)).toHaveLength(1)
  })
})

test('names are completed for arguments that are there', () => {
  const present = commands.flatMap((command) =>
    command.registeredArguments.map((argument) => `${command.name()} ${argument.name()}`),
  )
  expect(Object.keys(argumentSources).filter((key) => !present.includes(key))).toEqual([])
})

/** The commands that a line runs; one that would be refused as it is typed is an error. */
async function typed(line: string): Promise<readonly string[]> {
  const words = shellWords(line)
  if (!words) throw new Error('a quote is never closed')
  const ran: string[] = []
  let said = ''
  const note = { write: (text: string) => (said += text), columns: 100, rows: 24, isTTY: false, color: false }
  const parts = { out: note, err: note, version: '', program: 'slipway' }
  const program = await makeProgram(words, parts, () => async (...values) => {
    const last: unknown = values.at(-1)
    if (last instanceof Command) ran.push(pathOf(last))
  })
  await program.parseAsync(words.slice(1), { from: 'user' }).catch((error: Error) => {
    const isAnswer = 'exitCode' in error && error.exitCode === 0
    if (!isAnswer) throw new Error(`${error.message}: ${said}`)
  })
  return ran
}

/** Those that people read, without what is generated from the commands themselves. */
function pages(): readonly { readonly path: string; readonly text: string }[] {
  const root = join(import.meta.dirname, '../..')
  return globSync(['README.md', 'CONTRIBUTING.md', 'docs/**/*.md', 'examples/**/*.md', 'deploy/**/*.md'], { cwd: root })
    .filter((path) => path !== 'docs/reference/cli.md')
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
}

/** The lines of its blocks for a shell, as they are typed there. */
function shellLines(text: string): readonly string[] {
  return [...text.matchAll(/^```(?:sh|bash|console)\n(.*?)^```/gms)].flatMap(([, block = '']) =>
    block
      .replaceAll(/\\\n\s*/g, ' ')
      .split('\n')
      .map((line) =>
        line
          .replace(/^\$ /, '')
          .replace(/\s+#.*$/, '')
          .replace(/^(?:\.\/|kubectl )slipway /, 'slipway ')
          .trim(),
      ),
  )
}

/** The commands inside a sentence: names of commands, options and what stands in capitals for a name; the rest goes on with the sentence. */
function advised(sentence: string): readonly string[] {
  return [...sentence.matchAll(/\bslipway( [a-z][a-z-]*)((?: [a-z]+)?)((?: (?:--[a-z-]+|[A-Z]+))*)/g)].map(
    ([, name = '', sub = '', rest = '']) => {
      const command = tree.commands.find((one) => one.name() === name.trim())
      const isSub = command?.commands.some((one) => one.name() === sub.trim())
      return `slipway${name}${isSub ? sub + rest : sub === '' ? rest : ''}`.replaceAll(/\b[A-Z]+\b/g, (word) =>
        word.toLowerCase(),
      )
    },
  )
}

/** The indented lines below "Example:" or "Examples:". */
function examplesOf(command: Command): readonly string[] {
  const [, shown = ''] = /(?:^|\n)Examples?:\n((?: {2}.*(?:\n|$))+)/.exec(helpAfter(command)) ?? []
  return shown.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim()]))
}

/** The calls of slipway in one line of a shell, without what is piped, redirected or remarked. */
function calls(line: string): readonly string[] {
  const [said = ''] = line.split(/\s{3,}/)
  return said
    .replace(/^source <\((.*)\)$/, '$1')
    .split(/&&|\|\||\||>/)
    .map((part) => part.trim())
    .filter((part) => part.startsWith('slipway '))
}
