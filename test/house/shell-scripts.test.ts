// No command line is built by joining strings: what a shell runs is a constant of ours, and all else reaches it as its arguments.

import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { repository } from './planted-tree.ts'

/** Path to content. */
type Sources = ReadonlyMap<string, string>

/** Their `-c` names a file of settings. */
const notShells = ["'apt-get'", "'apt-cache'"]
const term = /^(?:'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`|[A-Za-z_$][\w$]*|\d[\d_]*)/s
const scriptOption = /([^\s,[(]*),?\s*(?:'-c'|"-c"|`-c`),\s*/g
const forbidden = [
  { pattern: /\bshell:\s*(?:true\b|['"`]\/)/, why: 'a shell that child_process starts' },
  { pattern: /import[^'"]*\{[^}]*\b(?:exec|execSync)\b[^}]*\}\s*from\s*['"]node:child_process['"]/, why: 'exec' },
  { pattern: /import\s+(?!type\b)[^{'"]*from\s*['"]node:child_process['"]/, why: 'all of child_process' },
]

function violations(sources: Sources): readonly string[] {
  return [...sources].flatMap(([path, text]) => [
    ...forbidden.filter(({ pattern }) => pattern.test(text)).map(({ why }) => `${path}: ${why}`),
    ...[...text.matchAll(scriptOption)]
      .filter(([, before = '']) => !notShells.includes(before))
      .filter(({ 0: found, index }) => !isConstant(sources, path, text.slice(index + found.length), /^\s*[,\])]/))
      .map(({ 0: found, index }) => `${path}: ${text.slice(index + found.length).split('\n', 1)[0]}`),
  ])
}

/** Whether the expression the text begins with, up to `end`, is made of literals and constants of ours alone. */
function isConstant(sources: Sources, path: string, text: string, end: RegExp): boolean {
  const [found] = term.exec(text) ?? []
  if (found === undefined) return false
  const isKnown = found.startsWith('`')
    ? [...found.matchAll(/(?<!\\)\$\{([^}]*)\}/g)].every(([, name = '']) => isConstant(sources, path, name, /^$/))
    : !/^[A-Za-z_$]/.test(found) || isNamedConstant(sources, path, found)
  const rest = text.slice(found.length)
  const more = /^\s*[+*]\s*/.exec(rest)
  if (!isKnown) return false
  return more ? isConstant(sources, path, rest.slice(more[0].length), end) : end.test(rest)
}

/** A constant of the module, or of the module of ours that it is imported from. */
function isNamedConstant(sources: Sources, path: string, name: string): boolean {
  const text = sources.get(path)
  if (text === undefined) return false
  const own = new RegExp(`^(?:export )?const ${name} =\\s*`, 'm').exec(text)
  if (own) return isConstant(sources, path, text.slice(own.index + own[0].length), /^\s*(?:\n|$)/)
  const imported = new RegExp(`import \\{[^}]*\\b${name}\\b[^}]*\\} from '(\\.[^']*)'`).exec(text)
  return imported?.[1] !== undefined && isNamedConstant(sources, join(dirname(path), imported[1]), name)
}

const sources: Sources = new Map(
  readdirSync(join(repository, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path) && !/\.test\.tsx?$/.test(path))
    .map((path) => [path, readFileSync(join(repository, 'src', path), 'utf8')]),
)

describe('what a shell runs', () => {
  test('is a constant of ours', () => {
    expect([...sources.values()].filter((text) => text.includes("'/bin/sh', '-c'")).length).toBeGreaterThan(5)
    expect(violations(sources)).toEqual([])
  })

  test.each([
    ["export const argv = ['/bin/sh', '-c', 'exec \"$@\"', 'name', process.title]"],
    [
      `const wait = 3\nconst script = \`sleep \${wait}; echo \\\${HOME}\`\nexport const argv = ['/bin/sh', '-c', script]`,
    ],
    ["import { script } from './script.ts'\nexport const argv = ['nsenter', '/bin/sh', '-c', script]"],
    ["export const argv = (config: string) => ['apt-get', '-c', config, 'update']"],
    ["import { execFile, spawn } from 'node:child_process'"],
  ])('may be %j', (text) => {
    const script = "const first = 'cd /'\nexport const script = first + `\npwd\n`\n"
    expect(
      violations(
        new Map([
          ['planted.ts', text],
          ['script.ts', script],
        ]),
      ),
    ).toEqual([])
  })

  test.each([
    ['a template with a value', `export const argv = (name: string) => ['/bin/sh', '-c', \`rm \${name}\`]`],
    ['words that are joined', "export const argv = (name: string) => ['sh', '-c', 'rm ' + name]"],
    ['an argument', "export const argv = (script: string) => ['/bin/bash', '-c', script]"],
    ['a call', "export const argv = (words: string[]) => ['/bin/sh', '-c', words.join(' ')]"],
    [
      'a constant that is computed',
      "const script = process.argv.join(' ')\nexport const argv = ['/bin/sh', '-c', script]",
    ],
    [
      'a constant of a computed one',
      `const name = process.title\nconst script = \`rm \${name}\`\nspawn(sh, ['-c', script])`,
    ],
    ['another shell option', "spawn('rm', [name], { shell: true })"],
    ['a shell by name', "spawn('rm', [name], { shell: '/bin/bash' })"],
    ['exec', "import { exec, spawn } from 'node:child_process'"],
    ['execSync', "import { execSync as run } from 'node:child_process'"],
    ['the whole module', "import * as processes from 'node:child_process'"],
  ])('may not be %s', (_, text) => {
    expect(violations(new Map([['planted.ts', text]]))).toHaveLength(1)
  })
})
