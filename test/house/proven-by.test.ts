// The list of proofs is about tests that exist, and about everything the catalogues know.

import { existsSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { driverNames } from '../../src/agent/drivers/all-drivers.ts'
import { gatePoints, gateTypes } from '../../src/api/gate.ts'
import { hookPoints } from '../../src/api/hook.ts'
import { checkNames } from '../../src/api/preflight.ts'
import { allChecks } from '../../src/core/preflight/all-checks.ts'
import type { Proof } from '../proof/proven-by.ts'
import * as provenBy from '../proof/proven-by.ts'
import { repository } from './planted-tree.ts'

const { checkProofs, gateProofs, gatePointProofs, hookProofs, undoProofs } = provenBy
const entries = Object.entries(provenBy).flatMap(([list, items]) =>
  Object.entries(items as Readonly<Record<string, readonly Proof[]>>).flatMap(([item, proofs]) =>
    proofs.map((proof) => ({ what: `${list}: ${item}`, ...proof })),
  ),
)

const text = (path: string) => (existsSync(join(repository, path)) ? readFileSync(join(repository, path), 'utf8') : '')

/** A title as the first argument of a test: quoted on its own line or after the opening of the call. */
function hasTest(source: string, title: string): boolean {
  const quoted = JSON.stringify(title).slice(1, -1).replaceAll("'", "\\'")
  return [`'${quoted}'`, `"${quoted}"`].some((words) => source.includes(`(${words}`) || source.includes(`  ${words},`))
}

describe('what is proven', () => {
  test.each(entries)('$what', ({ file, title, row, rows, suite }) => {
    expect(file).toMatch(/^test\/(apiserver|e2e|conformance)\/.*\.test\.ts$/)
    expect(hasTest(text(suite ?? file), title), `${suite ?? file} has a test '${title}'`).toBe(true)
    if (suite !== undefined) expect(text(file)).toContain(basename(suite))
    if (row !== undefined) expect(text(rows ?? file)).toContain(row)
  })

  test('all that the catalogues know is among it', () => {
    expect(Object.keys(checkProofs)).toEqual(checkNames)
    expect(allChecks.map(({ name }) => name)).toEqual(checkNames)
    expect(Object.keys(gateProofs)).toEqual([...gateTypes])
    expect(Object.keys(gatePointProofs)).toEqual([...gatePoints])
    expect(Object.keys(hookProofs)).toEqual(expect.arrayContaining([...hookPoints]))
    expect(Object.keys(undoProofs)).toEqual([...driverNames])
  })

  test('a title that no test has is found out', () => {
    expect(hasTest("  test('stays', () => {})", 'stays')).toBe(true)
    expect(hasTest("  // stays\n  const stays = 'stays'", 'stays')).toBe(false)
  })
})
