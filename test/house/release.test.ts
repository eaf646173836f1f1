// What a release is made from is told in one place each.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { keyIdOf, publicKey } from '../../src/adapters/signed-release/release-key.ts'
import { readReleaseInputs } from '../../src/main/release/release-inputs.ts'
import { repository } from './planted-tree.ts'

const read = (path: string) => readFileSync(join(repository, path), 'utf8')
const { version, devDependencies } = z
  .object({ version: z.string(), devDependencies: z.object({ node: z.string() }) })
  .parse(JSON.parse(read('package.json')))

describe('a release', () => {
  test('has its section in the changelog, or is still to come', () => {
    const headings = [...read('CHANGELOG.md').matchAll(/^## \[([^\]]+)\](?: - (\d{4}-\d{2}-\d{2}))?$/gm)]
    const sections = new Map(headings.map(([, name = '', day]) => [name, day]))
    expect([...sections.keys()].some((name) => name === version || name === 'Unreleased')).toBe(true)
    for (const [name, day] of sections) if (name !== 'Unreleased') expect(day, name).toBeDefined()
    expect(headings[0]?.[1]).toBe(sections.has('Unreleased') ? 'Unreleased' : version)
  })

  test('sorts its changes under the words that people know', () => {
    const kinds = [...read('CHANGELOG.md').matchAll(/^### (.*)$/gm)].map(([, kind]) => kind)
    const known = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security']
    expect(kinds.filter((kind) => !known.includes(kind ?? ''))).toEqual([])
    expect(kinds.length).toBeGreaterThan(0)
  })

  test('runs on the Node that the tests run on', async () => {
    expect((await readReleaseInputs(repository)).node.version).toBe(devDependencies.node)
  })

  test('is signed with keys that the documents name', () => {
    const { keys } = z.object({ keys: z.array(z.string()) }).parse(JSON.parse(read('deploy/release/keys.json')))
    const page = read('docs/releasing.md')
    expect(keys.map((pem) => keyIdOf(publicKey(pem))).filter((id) => !page.includes(`\`${id}\``))).toEqual([])
  })
})
