// What the linter has no rule for: names of files and folders, words that switch a rule off, links in the documents.

import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { repository } from './planted-tree.ts'

const listing = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: repository,
  encoding: 'utf8',
})
const files = listing.split('\n').filter((path) => path !== '' && existsSync(join(repository, path)))
const sources = files.filter((path) => /^(src|test|bench)\/.*\.ts$/.test(path))
const documents = files.filter((path) => path.endsWith('.md'))

function read(path: string): string {
  return readFileSync(join(repository, path), 'utf8')
}

const layers = [...read('docs/architecture.md').matchAll(/^\| `src\/([a-z]+)` \|/gm)].map(([, layer = '']) => layer)

test('no test is there and not meant to run: what is not run counts as failed in CI', () => {
  const unmeant = /\b(?:test|it|describe)\.(?:runIf|todo|skip)\(/
  expect(sources.filter((path) => /\.test\.tsx?$/.test(path) && unmeant.test(read(path)))).toEqual([])
})

describe('names', () => {
  test('no file is a place for leftovers', () => {
    const leftovers = /^(utils?|helpers?|common|types|index|misc|shared|lib)(\.test)?\.ts$/
    expect(sources.filter((path) => leftovers.test(path.split('/').at(-1) ?? ''))).toEqual([])
  })

  test('no folder inside src bears the name of a layer, since the import rules go by it', () => {
    const inner = sources.filter((path) => {
      const [top, , ...rest] = path.split('/')
      return top === 'src' && rest.slice(0, -1).some((folder) => layers.includes(folder))
    })
    expect(inner).toEqual([])
  })

  test('each folder of src is a row of the layer table', () => {
    expect(readdirSync(join(repository, 'src')).filter((folder) => !layers.includes(folder))).toEqual([])
  })
})

describe('sources', () => {
  // Put together here, so that this file does not find itself.
  const silencers = [
    ['biome', 'ignore'],
    ['ts', 'ignore'],
    ['ts', 'expect', 'error'],
    ['ts', 'nocheck'],
  ].map((words) => words.join('-'))
  const forbidden = [...silencers, ['as', 'unknown', 'as'].join(' '), ['TO', 'DO'].join(''), ['FIX', 'ME'].join('')]

  test.each(forbidden)('nobody writes "%s"', (words) => {
    expect(sources.filter((path) => read(path).includes(words))).toEqual([])
  })
})

describe('documents', () => {
  test('links between them lead somewhere', () => {
    const broken = documents.flatMap((path) =>
      [...read(path).matchAll(/\]\((?!https?:|mailto:|#)([^)#\s]+)(?:#[^)]*)?\)/g)]
        .map(([, target = '']) => target)
        .filter((target) => !existsSync(join(repository, dirname(path), target)))
        .map((target) => `${path}: ${target}`),
    )
    expect(broken).toEqual([])
  })

  test('every dependency has its line in the decisions', () => {
    const decision = read('docs/decisions/0001-typescript-on-node-24.md')
    const { dependencies, devDependencies }: Record<string, Record<string, string>> = JSON.parse(read('package.json'))
    const names = Object.keys({ ...dependencies, ...devDependencies })
    expect(names.filter((name) => !decision.includes(`| \`${name}\``))).toEqual([])
  })

  test('each decision is listed in the overview', () => {
    const overview = read('docs/architecture.md')
    const decisions = files
      .filter((path) => path.startsWith('docs/decisions/'))
      .map((path) => path.slice('docs/'.length))
    expect(decisions.length).toBeGreaterThan(0)
    expect(decisions.filter((path) => !overview.includes(`(${path})`))).toEqual([])
  })

  test('each make target the documents speak of is there', () => {
    const targets = new Set([...read('Makefile').matchAll(/^([a-z0-9-]+):/gm)].map(([, target]) => target))
    const spoken = documents.flatMap((path) =>
      [...read(path).matchAll(/`make ([a-z0-9-]+)/g)].map(([, target]) => target),
    )
    expect(spoken.length).toBeGreaterThan(0)
    expect(spoken.filter((target) => !targets.has(target))).toEqual([])
  })
})
