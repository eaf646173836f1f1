import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { repository } from './planted-tree.ts'

const folder = join(repository, 'test/conformance')
const cases = readdirSync(join(folder, 'cases')).toSorted()

test('each case of the conformance suite is run, either in CI or in the full suite', () => {
  const run = ['quick', 'full'].flatMap((part) =>
    readdirSync(join(folder, part)).map((file) => {
      const text = readFileSync(join(folder, part, file), 'utf8')
      return /testDriver\('(.+)'\)/.exec(text)?.[1] ?? file
    }),
  )
  expect(run.toSorted()).toEqual(cases)
})
