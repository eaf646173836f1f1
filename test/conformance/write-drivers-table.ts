// Writes docs/reference/drivers.md from the results of the last conformance runs.

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { driverNames } from '../../src/agent/drivers/all-drivers.ts'
import { keptResults } from './conformance-results.ts'
import { driversTable, rowsOf } from './drivers-table.ts'

const file = join(import.meta.dirname, '../../docs/reference/drivers.md')
const earlier = await readFile(file, 'utf8').catch(() => '')
await writeFile(file, driversTable(driverNames, await keptResults(), rowsOf(earlier)))
