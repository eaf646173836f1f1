// Every right names, verb by verb, the file whose flow uses it; that file must be there and hold itself to it.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { allRights } from '../../src/cli/install/all-rights.ts'
import { manifests } from '../../src/cli/install/manifests.ts'
import { repository } from './planted-tree.ts'

const uses = allRights.flatMap(({ rights }) => rights.flatMap((right) => Object.entries(right.uses)))
const files = [...new Set(uses.map(([, file]) => file))].sort()

describe('rights', () => {
  test.each(files)('%s holds itself to the rights that name it', (file) => {
    const path = join(repository, `test/apiserver/${file}.test.ts`)
    expect(existsSync(path)).toBe(true)
    const text = readFileSync(path, 'utf8')
    expect(text).toContain('test(rightsTitle')
    expect(text).toMatch(new RegExp(`expectRightsUsed\\(\\w+(\\.\\w+)?, '${file}'`))
  })

  test('no file holds itself to rights that do not name it', () => {
    const text = (file: string) => readFileSync(join(repository, `test/apiserver/${file}.test.ts`), 'utf8')
    const named = files.flatMap((file) =>
      [...text(file).matchAll(/expectRightsUsed\([^,]+, '([^']+)'/g)].map(([, name]) => name),
    )
    expect(named.sort()).toEqual(files)
  })

  test('each rule that is installed is one of those that say why', () => {
    const known = new Set(allRights.flatMap(({ rights }) => rights.map(({ rule }) => JSON.stringify(rule))))
    const settings = { namespace: 'n', image: 'i', foreign: true, locks: [{ namespace: 'kube-system', name: 'kured' }] }
    const installed = manifests(settings)
      .filter(({ kind }) => kind === 'Role' || kind === 'ClusterRole')
      .flatMap(({ rules = [] }) => rules as readonly object[])
    expect(installed.filter((rule) => !known.has(JSON.stringify(rule)))).toEqual([])
    expect(installed.length).toBeGreaterThan(40)
  })
})
