// One plan in a process of its own: `node bench/plan-once.ts SNAPSHOT`. Prints seconds, processor seconds and the most memory it
// held from when the file was read.

import { readFileSync } from 'node:fs'
import { parseClusterSnapshot } from '../src/cli/cluster-snapshot.ts'
import { planRole } from '../src/main/roles/plan-role.ts'
import { spareMemory } from '../src/main/spare-memory.ts'

// As the command does.
spareMemory()
const [path = ''] = process.argv.slice(2)
let text = readFileSync(path, 'utf8')
const startedMs = performance.now()
const before = process.cpuUsage()
const snapshot = parseClusterSnapshot(text, path)
// As the command does, which hands it over.
text = ''
const update = { name: 'to-1-36', spec: { kubernetes: { version: 'v1.36.3' }, strategy: { maxUnavailable: '5%' } } }
const { signal } = new AbortController()
const report = await planRole('0.1.0', { snapshot, update, seed: 1 }, signal)
const { user, system } = process.cpuUsage(before)
const result = {
  seconds: (performance.now() - startedMs) / 1000,
  processorSeconds: (user + system) / 1e6,
  mostMiB: process.resourceUsage().maxRSS / 1024,
  nodes: report.nodes,
  verdict: report.verdict,
  rehearsals: report.rehearsals,
  alike: report.alike,
  waves: report.waves.map(({ title, total }) => ({ title, nodes: total })),
  predictedSeconds: report.durationSeconds,
}
process.stdout.write(`${JSON.stringify(result)}\n`)
