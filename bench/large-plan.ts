// `make proof-scale`: one plan of a cluster of ten thousand nodes.

import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { commitOfTree, keepResult, today } from '../test/proof/kept-results.ts'
import { largeSnapshot } from './large-snapshot.ts'

const nodes = 10_000
const podsPerNode = 30

const commit = commitOfTree()
const folder = mkdtempSync(join(tmpdir(), 'slipway-plan-'))
try {
  const file = join(folder, 'cluster.json')
  writeFileSync(file, JSON.stringify(largeSnapshot(nodes, podsPerNode)))
  const { stdout } = await promisify(execFile)(process.execPath, ['bench/plan-once.ts', file])
  const { alike, ...plan } = JSON.parse(stdout)
  const size = { nodes, pods: nodes * podsPerNode, rehearsed: nodes - alike }
  keepResult('large-plan', { ...plan, ...size, date: today(), commit, command: 'make proof-scale' })
  process.stdout.write(stdout)
} finally {
  rmSync(folder, { recursive: true })
}
