import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { driverNames } from '../../src/agent/drivers/all-drivers.ts'
import { renderCommands } from '../../src/main/reference/render-commands.ts'
import { renderMetrics } from '../../src/main/reference/render-metrics.ts'
import { renderPermissions } from '../../src/main/reference/render-permissions.ts'
import { renderReasons } from '../../src/main/reference/render-reasons.ts'
import { driversTable, rowsOf } from '../conformance/drivers-table.ts'
import { repository } from './planted-tree.ts'

test('docs/reference/reasons.md is what src/api/reason.ts says: run make reference', () => {
  expect(readFileSync(join(repository, 'docs/reference/reasons.md'), 'utf8')).toBe(renderReasons())
})

test('docs/reference/metrics.md is what src/api/metrics.ts says: run make reference', () => {
  expect(readFileSync(join(repository, 'docs/reference/metrics.md'), 'utf8')).toBe(renderMetrics())
})

test('docs/reference/permissions.md is what src/cli/install/rights.ts says: run make reference', () => {
  expect(readFileSync(join(repository, 'docs/reference/permissions.md'), 'utf8')).toBe(renderPermissions())
})

test('docs/reference/cli.md is what the tree of commands says: run make reference', async () => {
  expect(readFileSync(join(repository, 'docs/reference/cli.md'), 'utf8')).toBe(await renderCommands())
})

test('docs/reference/drivers.md has the drivers an agent has: run make drivers-table', () => {
  const table = readFileSync(join(repository, 'docs/reference/drivers.md'), 'utf8')
  expect(table).toBe(driversTable(driverNames, [], rowsOf(table)))
  expect(table).not.toContain('**failed**')
})
